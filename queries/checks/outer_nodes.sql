-- Nodes whose enclosing node of the same function (or line) is something else, or does not enclose them.
SELECT n.node_id
FROM nodes AS n
LEFT JOIN nodes AS o ON o.node_id = n.outer_id
WHERE n.outer_up IS NOT NULL
  AND (
    o.node_id IS NULL
    OR o.node_id >= n.node_id
    OR o.last_id < n.last_id
    OR o.function_id <> n.function_id
    OR COALESCE(o.line, -1) <> COALESCE(n.line, -1)
    OR COALESCE(o.col, 0) <> COALESCE(n.col, 0)
    OR COALESCE(o.file, '') <> COALESCE(n.file, '')
  )
ORDER BY n.node_id;
