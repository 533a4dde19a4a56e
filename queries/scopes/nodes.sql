-- Costs of functions in subtrees. Within a subtree a node is outermost if its outer node, if any, lies above the subtree.
CREATE TEMP VIEW function_costs (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT
  n.function_id,
  CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls) END,
  SUM(n.exclusive),
  SUM(CASE WHEN n.outer_id >= s.node_id THEN 0.0 ELSE n.cumulative END),
  SUM(n.exclusive_readings),
  SUM(CASE WHEN n.outer_id >= s.node_id THEN 0.0 ELSE n.cumulative_readings END)
FROM temp.subtrees AS s
CROSS JOIN temp.question_nodes AS n
WHERE s.outermost AND n.line IS NULL AND n.node_id BETWEEN s.node_id AND s.last_id
GROUP BY n.function_id;
