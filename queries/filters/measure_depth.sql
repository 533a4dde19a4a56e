-- Depth in the tree that is left: the number of nodes that begin before a node, less those that end before it.
UPDATE temp.visible
SET depth = counted.depth
FROM (
  SELECT node_id, depth
  FROM (
    SELECT node_id, SUM(change) OVER (ORDER BY place, change DESC ROWS UNBOUNDED PRECEDING) - 1 AS depth
    FROM (
      SELECT node_id AS place, node_id AS node_id, 1 AS change
      FROM temp.visible
      UNION ALL
      SELECT last_id + 0.5, NULL, -1
      FROM temp.visible
    )
  )
  WHERE node_id IS NOT NULL
) AS counted
WHERE counted.node_id = visible.node_id;
