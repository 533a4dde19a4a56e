-- Nodes whose enclosing node of the same function (or line) is something else, does not enclose them, or is not the nearest.
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
    -- Two nodes of one function with the same enclosing node, or with none, are never within each other: the outer one of
    -- them would be nearer.
    MAX(last_id) OVER (
      PARTITION BY function_id, line, col, file, outer_id
      ORDER BY node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS last_before
  FROM nodes
)
WHERE last_before >= node_id
ORDER BY 1;
