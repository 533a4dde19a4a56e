CREATE VIEW function_tree (
  -- The call tree of a run without lines, one row per metric and place where a function was called: view tree with
  -- line IS NULL. Exclusive cost adds up to that of the run, cumulative cost only where outer_id is NULL. Always ask with
  -- run_id and metric.
  run_id,      -- number of the run
  metric,      -- what was measured: time, ticks, samples, alloc
  node_id,     -- number of the node in pre-order: parents first
  parent_id,   -- the node above, which in trees with lines may be a line; NULL at a root
  last_id,     -- the last node below, lines among them; the node itself if there is none
  outer_id,    -- the nearest enclosing node of the same function; NULL if outermost
  depth,       -- how many nodes are above, lines among them: 0 at a root
  function,    -- name of the function
  module,      -- its module, package, program or library; '' if unknown
  file,        -- its source file; '' if unknown
  calls,       -- how often called here; NULL if unknown
  exclusive,   -- cost of the function itself here, in the metric's unit
  cumulative,  -- cost with everything called, in the metric's unit; NULL if unknown
  kind         -- function; pseudo: no code of the program's (garbage collector, idle); or a container: root, process,
               -- thread, part
) AS
SELECT
  r.run_id,
  m.name,
  n.node_id,
  n.parent_id,
  n.last_id,
  n.outer_id,
  n.depth,
  f.name,
  f.module,
  f.file,
  n.calls,
  CASE WHEN m.metric_id = r.default_metric_id THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END,
  CASE
    WHEN m.metric_id = r.default_metric_id THEN n.cumulative
    WHEN c.node_id IS NULL THEN 0.0
    ELSE c.cumulative
  END,
  f.kind
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
-- Bounds and LEFT are as in view tree.
JOIN nodes AS n ON likely(n.node_id >= r.first_node) AND likely(n.node_id <= r.last_node) AND n.line IS NULL
LEFT JOIN functions AS f ON f.function_id = +n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
