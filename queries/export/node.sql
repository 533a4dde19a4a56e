-- A node: its distance from the parent, its function and its line.
SELECT
  n.up,
  n.function_id,
  n.line IS NOT NULL AS is_line
FROM nodes AS n
WHERE n.node_id = :node
