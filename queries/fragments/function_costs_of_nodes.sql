-- Costs of functions in subtrees. A node within another of the same function adds no cumulative cost.
SELECT n.function_id, CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls) END AS calls, SUM(n.exclusive) AS exclusive,
  SUM(IIF(n.outer_id >= s.node_id, 0.0, n.cumulative)) AS cumulative
FROM subtrees AS s CROSS JOIN $nodes AS n
WHERE s.outermost AND n.line IS NULL AND n.node_id BETWEEN s.node_id AND s.last_id
GROUP BY n.function_id
