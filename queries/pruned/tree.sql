-- What the tree of calls leaves out: nodes, the own cost of the functions among them, and its share.
SELECT
  p.nodes,
  p.cost,
  100 * p.cost / NULLIF(a.total, 0)
FROM temp.asked AS a
CROSS JOIN (
  SELECT COUNT(*) AS nodes, COALESCE(SUM(CASE WHEN n.line IS NULL THEN n.exclusive END), 0.0) AS cost
  FROM temp.asked AS b
  CROSS JOIN temp.places AS n
  WHERE b.question = 1 AND NOT COALESCE(
    (:depth IS NULL OR n.depth <= :depth)
      AND (:min_pct IS NULL OR 100 * COALESCE(n.cumulative, n.exclusive) / NULLIF(b.total, 0) >= :min_pct),
    0
  )
) AS p
WHERE a.question = 1;
