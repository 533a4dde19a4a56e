-- Compares intervals of nodes: some engines limit recursion, or do not support it.
SELECT n.run_uid AS run_uid, m.metric AS metric, n.node_id AS node_id, f.name AS function, f.module AS module, f.file AS file,
  a.node_id AS ancestor_id, a.depth AS depth, g.name AS ancestor, g.kind AS ancestor_kind, g.module AS ancestor_module,
  g.file AS ancestor_file, CASE WHEN a.outer_id IS NULL THEN 1 ELSE 0 END AS is_outermost, n.calls AS calls,
  CASE WHEN m.metric = r.default_metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END AS exclusive,
  CASE WHEN m.metric = r.default_metric THEN n.cumulative WHEN c.node_id IS NULL THEN 0.0 ELSE c.cumulative END AS cumulative,
  n.function_key AS function_key, NULLIF(f.first_line, 0) AS first_line, a.function_key AS ancestor_function_key, NULLIF(g.first_line, 0) AS ancestor_first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN nodes AS n ON n.run_uid = r.run_uid AND n.line IS NULL
JOIN nodes AS a ON a.run_uid = n.run_uid AND a.line IS NULL AND a.node_id < n.node_id AND a.last_id >= n.node_id
JOIN functions AS f ON f.run_uid = n.run_uid AND f.function_key = n.function_key
JOIN functions AS g ON g.run_uid = a.run_uid AND g.function_key = a.function_key
LEFT JOIN node_costs AS c ON c.run_uid = n.run_uid AND c.metric = m.metric AND c.node_id = n.node_id
