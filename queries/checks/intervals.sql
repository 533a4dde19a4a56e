-- Nodes outside their parent's interval or at a wrong depth, and nodes whose descendants do not fill the interval exactly.
SELECT n.node_id
FROM nodes AS n
LEFT JOIN nodes AS p ON p.node_id = n.parent_id
WHERE n.last_id > p.last_id
   OR n.depth <> COALESCE(p.depth + 1, 0)
   OR (n.up IS NOT NULL AND p.node_id IS NULL)
UNION ALL
SELECT n.node_id
FROM nodes AS n
LEFT JOIN (
  SELECT parent_id, SUM(size + 1) AS filled
  FROM nodes
  GROUP BY parent_id
) AS below ON below.parent_id = n.node_id
WHERE n.size <> COALESCE(below.filled, 0)
ORDER BY 1;
