CREATE VIEW tree (
  -- The call tree of a run, one row per metric and node; table metrics has the units. Always select run_id and
  -- metric, and ORDER BY node_id. A node is a function with one path of callers, or one of its lines: never add the two.
  -- View function_tree has no lines. The descendants of a node n have node_id > n.node_id AND node_id <= n.last_id:
  -- views subtrees and ancestors contain such pairs.
  run_id,       -- number of the run
  metric,       -- name of the metric: time, ticks, samples, alloc
  node_id,      -- number of the node in pre-order: parents first
  parent_id,    -- the parent node; NULL at a root
  last_id,      -- the last descendant, or the node itself
  outer_id,     -- the nearest ancestor with the same function (lines: the same line); NULL if outermost
  depth,        -- number of ancestors: 0 at a root
  function,     -- name of the function
  module,       -- its module, package, program or library; '' if unknown
  file,         -- source file of the function or line; '' if unknown
  line,         -- line number in line nodes, which are parts of their function node; else NULL
  col,          -- column or clause; NULL if unknown
  calls,        -- number of calls (lines: executions) on this path; NULL if unknown
  exclusive,    -- exclusive cost of the node, in the metric's unit
  cumulative,   -- inclusive cost, in the metric's unit; NULL if unknown
  kind,         -- function; pseudo: not code of the program (garbage collector, idle); or a container: root, process,
                -- thread, part
  function_id,  -- number of the function in table functions
  first_line    -- line where the definition of the function starts; NULL if unknown
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
  f.kind,
  n.function_id,
  NULLIF(f.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
-- Both hints are for the planner, in joins of two trees. likely(): the bounds of the run exclude few nodes, so SQLite reads
-- descendants (node_id <= n.last_id) by their numbers and not the whole run for every node. LEFT JOIN: nodes have no index on
-- function_id, so the planner must not start with functions; every node has its function, so no row is lost.
JOIN nodes AS n ON likely(n.node_id >= r.first_node) AND likely(n.node_id <= r.last_node)
LEFT JOIN functions AS f ON f.function_id = +n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
