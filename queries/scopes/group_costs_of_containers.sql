-- The selected cost by thread or process.
INSERT INTO temp.group_costs (name, kind, cost)
SELECT f.name, f.kind, SUM(n.cumulative)
FROM temp.subtrees AS s
CROSS JOIN temp.containers AS c
CROSS JOIN temp.question_nodes AS n
CROSS JOIN functions AS f
WHERE s.outermost
  AND c.node_id <= s.last_id
  AND c.last_id >= s.node_id
  AND n.node_id = MAX(s.node_id, c.node_id)
  AND f.function_id = c.function_id
GROUP BY f.function_id;
