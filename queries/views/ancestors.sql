CREATE VIEW ancestors (
  -- Functions above a call: one row per run, metric, function node and ancestor node. Select run_id, metric and function (or
  -- node_id), because there are many times as many rows as nodes. ORDER BY depth gives the path from the root. Costs are those of
  -- the node, not of the ancestor. To add up the cost of a function below each ancestor, select is_outermost; otherwise recursion
  -- counts twice.
  run_id,                -- number of the run
  metric,                -- name of the metric: time, ticks, samples, alloc
  node_id,               -- number of the node
  function,              -- name of its function
  module,                -- module, package, program or library of the function; '' if unknown
  file,                  -- source file of the function; '' if unknown
  ancestor_id,           -- node_id of the ancestor
  depth,                 -- number of ancestors of the ancestor, including lines: 0 at a root
  ancestor,              -- name of the ancestor's function
  ancestor_kind,         -- its kind: function, pseudo, root, process, thread or part
  ancestor_module,       -- its module, package, program or library; '' if unknown
  ancestor_file,         -- its source file; '' if unknown
  is_outermost,          -- 1 if no node above the ancestor has the ancestor's function; else 0
  calls,                 -- number of calls of the node; NULL if unknown
  exclusive,             -- exclusive cost of the node, in the metric's unit
  cumulative,            -- inclusive cost of the node, in the metric's unit; NULL if unknown
  function_id,           -- number of the function in table functions
  first_line,            -- line where its definition starts; NULL if unknown
  ancestor_function_id,  -- number of the ancestor's function
  ancestor_first_line    -- line where the definition of the ancestor's function starts; NULL if unknown
) AS
SELECT
  r.run_id,
  m.name,
  n.node_id,
  f.name,
  f.module,
  f.file,
  a.node_id,
  a.depth,
  g.name,
  g.kind,
  g.module,
  g.file,
  a.outer_up IS NULL,
  n.calls,
  CASE WHEN m.metric_id = r.default_metric_id THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END,
  CASE
    WHEN m.metric_id = r.default_metric_id THEN n.cumulative
    WHEN c.node_id IS NULL THEN 0.0
    ELSE c.cumulative
  END,
  n.function_id,
  NULLIF(f.first_line, 0),
  a.function_id,
  NULLIF(g.first_line, 0)
-- CROSS JOIN makes the planner start at the run.
FROM runs AS r
CROSS JOIN metrics AS m ON m.run_id = r.run_id
CROSS JOIN function_nodes AS i ON i.run_id = r.run_id
JOIN functions AS f ON f.function_id = i.function_id
-- The equality of the functions is redundant, but leads from a node straight to its row in function_nodes.
JOIN nodes AS n ON n.node_id = i.node_id AND n.function_id = i.function_id
-- Follows the links to the parents: a range would read all nodes before the node.
JOIN nodes AS a ON a.line IS NULL AND a.node_id IN (
  WITH RECURSIVE above (node_id) AS (
    SELECT n.parent_id
    UNION ALL
    SELECT p.parent_id
    FROM above
    JOIN nodes AS p ON p.node_id = above.node_id
    WHERE p.up IS NOT NULL
  )
  SELECT above.node_id
  FROM above
)
-- Every function exists, so LEFT JOIN loses no row; it keeps the planner from starting with functions.
LEFT JOIN functions AS g ON g.function_id = +a.function_id
LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = n.node_id;
