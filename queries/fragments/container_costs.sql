-- The selected cost by thread or process.
SELECT f.function_id AS group_id, f.name, f.kind, SUM(n.cumulative) AS cost
FROM subtrees AS s CROSS JOIN containers AS c CROSS JOIN $nodes AS n CROSS JOIN functions AS f
WHERE s.outermost AND c.node_id <= s.last_id AND c.last_id >= s.node_id AND n.node_id = MAX(s.node_id, c.node_id)
  AND f.function_id = c.function_id
GROUP BY f.function_id
