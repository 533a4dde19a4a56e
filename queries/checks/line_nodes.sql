-- Line nodes whose parent is not a node of their function.
SELECT n.node_id
FROM nodes AS n
LEFT JOIN nodes AS p ON p.node_id = n.parent_id
WHERE n.line IS NOT NULL
  AND (p.node_id IS NULL OR p.line IS NOT NULL OR p.function_id <> n.function_id)
ORDER BY n.node_id;
