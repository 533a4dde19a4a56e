-- Adds the cost of hidden nodes to the nearest visible node above; where that is a line, also to its function.
UPDATE temp.visible
SET exclusive = exclusive + adopted.cost
FROM (
  SELECT node_id, SUM(cost) AS cost
  FROM (
    SELECT h.parent_id AS node_id, v.exclusive AS cost
    FROM temp.hidden AS h
    CROSS JOIN temp.visible AS v
    WHERE v.node_id = h.node_id AND v.line IS NULL
    UNION ALL
    SELECT above.parent_id, v.exclusive
    FROM temp.hidden AS h
    CROSS JOIN temp.visible AS v
    CROSS JOIN temp.visible AS above
    WHERE v.node_id = h.node_id AND v.line IS NULL AND above.node_id = h.parent_id AND above.line IS NOT NULL
  )
  GROUP BY node_id
) AS adopted
WHERE adopted.node_id = visible.node_id;
