-- Function nodes without a row in function_nodes, and rows without a node.
SELECT n.node_id
FROM runs AS r
JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
LEFT JOIN function_nodes AS i ON i.run_id = r.run_id AND i.function_id = n.function_id AND i.node_id = n.node_id
WHERE n.line IS NULL AND i.node_id IS NULL
UNION ALL
SELECT i.node_id
FROM function_nodes AS i
LEFT JOIN runs AS r ON r.run_id = i.run_id
LEFT JOIN nodes AS n ON n.node_id = i.node_id AND n.node_id BETWEEN r.first_node AND r.last_node
WHERE n.node_id IS NULL OR n.function_id <> i.function_id OR n.line IS NOT NULL
ORDER BY 1;
