-- The functions on the path to a node, with their names, from the root.
WITH path AS (
  SELECT n.node_id, n.up, n.function_id, n.line
  FROM nodes AS n
  WHERE n.node_id = :node
  UNION ALL
  SELECT n.node_id, n.up, n.function_id, n.line
  FROM path AS p
  CROSS JOIN nodes AS n
  WHERE p.up > 0 AND n.node_id = p.node_id - p.up
)
SELECT f.function_id, f.name
FROM path AS p
CROSS JOIN functions AS f ON f.function_id = p.function_id
WHERE p.line IS NULL
ORDER BY p.node_id;
