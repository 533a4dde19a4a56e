-- Costs of lines in subtrees.
SELECT n.function_id, COALESCE(n.file, '') AS file, n.line, COALESCE(n.col, 0) AS col,
  CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls) END AS calls, SUM(n.exclusive) AS exclusive,
  CASE COUNT(*) WHEN COUNT(n.cumulative) THEN SUM(IIF(n.outer_id >= s.node_id, 0.0, n.cumulative)) END AS cumulative
FROM subtrees AS s CROSS JOIN $nodes AS n
WHERE s.outermost AND n.line IS NOT NULL AND n.node_id BETWEEN s.node_id AND s.last_id
GROUP BY n.function_id, COALESCE(n.file, ''), n.line, COALESCE(n.col, 0)
