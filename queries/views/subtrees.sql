CREATE VIEW subtrees (
  -- What ran below a function: one row per run, metric, outermost call of function `top` and function node in the tree of
  -- that call, itself among them. Ask with run_id, metric and top (or top_id): there are many times as many rows as nodes. No
  -- node comes twice for one top: exclusive adds up to what the top cost in all, and cumulative by function where
  -- is_outermost.
  run_id,        -- number of the run
  metric,        -- what was measured: time, ticks, samples, alloc
  top,           -- name of the function at the top
  top_kind,      -- its kind: function, pseudo, root, process, thread or part
  top_module,    -- its module, package, program or library; '' if unknown
  top_file,      -- its source file; '' if unknown
  top_id,        -- node_id of the call at the top, which no call of the same function encloses
  node_id,       -- number of the node in pre-order: parents first
  is_outermost,  -- 1 if no node of the same function is between the node and the top, nor the top; else 0
  depth,         -- how many nodes of the run are above, lines among them
  function,      -- name of the function of the node
  module,        -- its module, package, program or library; '' if unknown
  file,          -- its source file; '' if unknown
  kind,          -- function; pseudo: no code of the program's; or a container: root, process, thread, part
  calls,         -- how often called here; NULL if unknown
  exclusive,     -- cost of the function itself here, in the metric's unit
  cumulative     -- cost with everything called, in the metric's unit; NULL if unknown
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
  END
-- CROSS JOIN keeps the planner from starting anywhere but at the run.
FROM runs AS r
CROSS JOIN metrics AS m ON m.run_id = r.run_id
CROSS JOIN function_nodes AS i ON i.run_id = r.run_id
JOIN functions AS t ON t.function_id = i.function_id
-- That the function is the same goes without saying, but leads from a node straight to its row in function_nodes.
JOIN nodes AS o ON o.node_id = i.node_id AND o.function_id = i.function_id AND o.outer_up IS NULL
JOIN nodes AS n ON n.node_id BETWEEN o.node_id AND o.last_id AND n.line IS NULL
-- Every function is there, so that LEFT loses nothing; it keeps the planner from starting with functions.
LEFT JOIN functions AS f ON f.function_id = +n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
