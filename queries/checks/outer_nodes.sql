-- Nodes whose outer node has another function or line, does not enclose them, or is not the nearest.
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
UNION ALL
SELECT node_id
FROM (
  SELECT
    node_id,
    -- Two nodes of one function with the same outer node, or without one, are never nested: the enclosing one would be the
    -- outer node of the other.
    MAX(last_id) OVER (
      PARTITION BY function_id, line, col, file, outer_id
      ORDER BY node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS last_before
  FROM nodes
)
WHERE last_before >= node_id
ORDER BY 1;
