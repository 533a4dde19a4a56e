-- The nodes of a run, parents first, with their costs in one metric; lines break down the function node above them.
SELECT
  n.depth,
  n.function_id,
  n.line,
  n.file,
  n.col,
  n.calls,
  CASE WHEN r.default_metric_id = :metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END AS exclusive,
  CASE
    WHEN r.default_metric_id = :metric THEN n.cumulative
    WHEN c.node_id IS NULL THEN 0.0
    ELSE c.cumulative
  END AS cumulative
FROM runs AS r
CROSS JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id
WHERE r.run_id = :run
ORDER BY n.node_id
