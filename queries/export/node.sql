-- A node: how far the node above is, and what it is of.
SELECT
  n.up,
  n.function_id,
  n.line IS NOT NULL AS is_line
FROM nodes AS n
WHERE n.node_id = :node
