-- One run of a dataset with the tables and numbers of a database, so that the statements of reports apply to both. Functions
-- are numbered by position, which is their order in the database.

-- The run. It has number 1, and its first node has number 1.
run_runs AS (
  SELECT 1 AS run_id, m.position AS default_metric_id, CASE WHEN r.nodes > 0 THEN 1 END AS first_node,
    CASE WHEN r.nodes > 0 THEN r.nodes END AS last_node
  FROM runs AS r LEFT JOIN metrics AS m ON m.run_uid = r.run_uid AND m.metric = r.default_metric
  WHERE r.run_uid = :uid
)

-- Metrics of the run.
run_metrics AS (
  SELECT m.position AS metric_id, 1 AS run_id, m.metric AS name, m.unit, m.position, m.total, m.timer_readings FROM metrics AS m WHERE m.run_uid = :uid
)

-- Functions of the run.
run_functions AS (
  SELECT f.position AS function_id, f.kind, f.name, f.module, f.file, f.first_line,
    MIN(f.position) OVER (PARTITION BY f.identity_key) AS identity_id
  FROM functions AS f WHERE f.run_uid = :uid
)

-- Identities of the functions.
run_identities AS (
  SELECT MIN(f.position) AS identity_id, MIN(f.identity_name) AS name, MIN(f.identity_module) AS module, MIN(f.identity_file) AS file
  FROM functions AS f WHERE f.run_uid = :uid GROUP BY f.identity_key
)

-- Costs of functions.
run_function_info AS (
  SELECT m.position AS metric_id, f.position AS function_id, i.calls, i.primitive, i.exclusive, i.cumulative, i.seen, i.recorded
  FROM function_info AS i
  JOIN metrics AS m ON m.run_uid = i.run_uid AND m.metric = i.metric
  JOIN functions AS f ON f.run_uid = i.run_uid AND f.function_key = i.function_key
  WHERE i.run_uid = :uid AND m.run_uid = :uid AND f.run_uid = :uid
)

-- Costs of lines.
run_line_info AS (
  SELECT m.position AS metric_id, f.position AS function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative, i.recorded
  FROM line_info AS i
  JOIN metrics AS m ON m.run_uid = i.run_uid AND m.metric = i.metric
  JOIN functions AS f ON f.run_uid = i.run_uid AND f.function_key = i.function_key
  WHERE i.run_uid = :uid AND m.run_uid = :uid AND f.run_uid = :uid
)

-- Nodes of the run.
run_nodes AS (
  SELECT n.node_id, n.parent_id, n.last_id, n.outer_id, n.depth, f.position AS function_id, n.line, n.col, n.file, n.calls,
    n.exclusive, n.cumulative
  FROM nodes AS n
  JOIN functions AS f ON f.run_uid = n.run_uid AND f.function_key = n.function_key
  WHERE n.run_uid = :uid AND f.run_uid = :uid
)

-- Function nodes of the run.
run_function_nodes AS (
  SELECT 1 AS run_id, n.function_id, n.node_id FROM run_nodes AS n WHERE n.line IS NULL
)

-- Costs of nodes in metrics other than the default metric.
run_node_costs AS (
  SELECT m.position AS metric_id, c.node_id, c.exclusive, c.cumulative
  FROM node_costs AS c
  JOIN metrics AS m ON m.run_uid = c.run_uid AND m.metric = c.metric
  WHERE c.run_uid = :uid AND m.run_uid = :uid
)

-- Calls by caller; the root has number 0.
run_edges AS (
  SELECT m.position AS metric_id, c.position AS callee_id, COALESCE(p.position, 0) AS caller_id, e.line_file, e.caller_line, e.caller_col, e.back,
    CASE WHEN e.back = 0 THEN 'call' ELSE 'back' END AS kind, e.calls, e.exclusive, e.cumulative, e.outermost, e.seen
  FROM edges AS e
  JOIN metrics AS m ON m.run_uid = e.run_uid AND m.metric = e.metric
  JOIN functions AS c ON c.run_uid = e.run_uid AND c.function_key = e.callee_key
  LEFT JOIN functions AS p ON p.run_uid = e.run_uid AND p.function_key = e.caller_key
  WHERE e.run_uid = :uid AND m.run_uid = :uid AND c.run_uid = :uid
)

-- Labels of samples.
run_label_sets AS (
  SELECT 1 AS run_id, s.set_id, s.key, COALESCE(s.text, CAST(s.number AS TEXT)) AS value, s.unit
  FROM label_sets AS s WHERE s.run_uid = :uid
)

-- Costs of nodes by label set.
run_node_labels AS (
  SELECT m.position AS metric_id, c.node_id, c.set_id, c.exclusive
  FROM node_labels AS c
  JOIN metrics AS m ON m.run_uid = c.run_uid AND m.metric = c.metric
  WHERE c.run_uid = :uid AND m.run_uid = :uid
)
