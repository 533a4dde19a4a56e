CREATE VIEW tree (
  -- The call tree of a run, one row per metric and node; table metrics has the units. Always ask with run_id and
  -- metric, ORDER BY node_id. A node is a function reached by one chain of callers, or one line of
  -- it: never add the two. Without lines it is view function_tree. What is below a node n has
  -- node_id > n.node_id AND node_id <= n.last_id: views subtrees and ancestors have such pairs ready.
  run_id,      -- number of the run
  metric,      -- what was measured: time, ticks, samples, alloc
  node_id,     -- number of the node in pre-order: parents first
  parent_id,   -- the node above; NULL at a root
  last_id,     -- the last node below, the node itself if there is none
  outer_id,    -- the nearest enclosing node of the same function (of the same line); NULL if outermost
  depth,       -- how many nodes are above: 0 at a root
  function,    -- name of the function
  module,      -- its module, package, program or library; '' if unknown
  file,        -- source file of the function or line; '' if unknown
  line,        -- the line, for line nodes, which break down the function node above them; else NULL
  col,         -- column or clause; NULL if unknown
  calls,       -- how often called (lines: executed) here; NULL if unknown
  exclusive,   -- cost of the node itself, in the metric's unit
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
  COALESCE(n.file, f.file),
  n.line,
  n.col,
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
-- Both hints are for the planner, in joins of two trees. likely(): the bounds of the run leave out few nodes, so it reads
-- those below a node (node_id <= n.last_id) by their numbers, and not the whole run for every node. LEFT: nodes have no
-- index on function_id, so it must not begin with functions; every node has its function, and no row is lost.
JOIN nodes AS n ON likely(n.node_id >= r.first_node) AND likely(n.node_id <= r.last_node)
LEFT JOIN functions AS f ON f.function_id = +n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
