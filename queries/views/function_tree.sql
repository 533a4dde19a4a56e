CREATE VIEW function_tree (
  -- The call tree of a run without lines, one row per metric and function node: view tree with line IS NULL. Exclusive cost
  -- adds up to that of the run, cumulative cost only where outer_id is NULL. Always select run_id and metric.
  run_id,       -- number of the run
  metric,       -- name of the metric: time, ticks, samples, alloc
  node_id,      -- number of the node in pre-order: parents first
  parent_id,    -- the parent node, which may be a line; NULL at a root
  last_id,      -- the last descendant, including lines; the node itself if there is none
  outer_id,     -- the nearest ancestor with the same function; NULL if outermost
  depth,        -- number of ancestors, including lines: 0 at a root
  function,     -- name of the function
  module,       -- its module, package, program or library; '' if unknown
  file,         -- its source file; '' if unknown
  calls,        -- number of calls on this path; NULL if unknown
  exclusive,    -- exclusive cost of the node, in the metric's unit
  cumulative,   -- inclusive cost, in the metric's unit; NULL if unknown
  kind,         -- function; pseudo: not code of the program (garbage collector, idle); or a container: root, process,
                -- thread, part
  function_id,  -- number of the function in table functions
  first_line    -- line where its definition starts; NULL if unknown
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
  f.kind,
  n.function_id,
  NULLIF(f.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
-- Bounds and LEFT JOIN as in view tree.
JOIN nodes AS n ON likely(n.node_id >= r.first_node) AND likely(n.node_id <= r.last_node) AND n.line IS NULL
LEFT JOIN functions AS f ON f.function_id = +n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
