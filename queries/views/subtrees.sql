CREATE VIEW subtrees (
  -- Functions below a function: one row per run, metric, outermost call of function `top` and function node in the tree of
  -- that call, including itself. Select run_id, metric and top (or top_id), because there are many times as many rows as nodes. Each
  -- node occurs once for each top: exclusive adds up to the inclusive cost of the top, and cumulative by function where
  -- is_outermost.
  run_id,           -- number of the run
  metric,           -- name of the metric: time, ticks, samples, alloc
  top,              -- name of the function at the top
  top_kind,         -- its kind: function, pseudo, root, process, thread or part
  top_module,       -- its module, package, program or library; '' if unknown
  top_file,         -- its source file; '' if unknown
  top_id,           -- node_id of the call at the top, the outermost call of its function
  node_id,          -- number of the node in pre-order: parents first
  is_outermost,     -- 1 if neither the top nor a node in between has the function of the node; else 0
  depth,            -- number of ancestors in the run, including lines
  function,         -- name of the function of the node
  module,           -- its module, package, program or library; '' if unknown
  file,             -- its source file; '' if unknown
  kind,             -- function; pseudo: not code of the program; or a container: root, process, thread, part
  calls,            -- number of calls on this path; NULL if unknown
  exclusive,        -- exclusive cost of the node, in the metric's unit
  cumulative,       -- inclusive cost, in the metric's unit; NULL if unknown
  function_id,      -- number of the function in table functions
  first_line,       -- line where its definition starts; NULL if unknown
  top_function_id,  -- number of the function at the top
  top_first_line    -- line where the definition of the function at the top starts; NULL if unknown
) AS
SELECT
  r.run_id,
  m.name,
  t.name,
  t.kind,
  t.module,
  t.file,
  o.node_id,
  n.node_id,
  n.outer_up IS NULL OR n.outer_id < o.node_id,
  n.depth,
  f.name,
  f.module,
  f.file,
  f.kind,
  n.calls,
  CASE WHEN m.metric_id = r.default_metric_id THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END,
  CASE
    WHEN m.metric_id = r.default_metric_id THEN n.cumulative
    WHEN c.node_id IS NULL THEN 0.0
    ELSE c.cumulative
  END,
  n.function_id,
  NULLIF(f.first_line, 0),
  t.function_id,
  NULLIF(t.first_line, 0)
-- CROSS JOIN makes the planner start at the run.
FROM runs AS r
CROSS JOIN metrics AS m ON m.run_id = r.run_id
CROSS JOIN function_nodes AS i ON i.run_id = r.run_id
JOIN functions AS t ON t.function_id = i.function_id
-- The equality of the functions is redundant, but leads from a node straight to its row in function_nodes.
JOIN nodes AS o ON o.node_id = i.node_id AND o.function_id = i.function_id AND o.outer_up IS NULL
JOIN nodes AS n ON n.node_id BETWEEN o.node_id AND o.last_id AND n.line IS NULL
-- Every function exists, so LEFT JOIN loses no row; it keeps the planner from starting with functions.
LEFT JOIN functions AS f ON f.function_id = +n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
