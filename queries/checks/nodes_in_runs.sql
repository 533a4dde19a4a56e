-- Nodes outside the ranges of all runs.
SELECT n.node_id
FROM nodes AS n
LEFT JOIN runs AS r ON n.node_id BETWEEN r.first_node AND r.last_node
WHERE r.run_id IS NULL
ORDER BY n.node_id;
