-- What the tree of calls leaves out: nodes, the own cost of the functions among them, and its share.
SELECT
  p.nodes,
  p.cost,
  100 * p.cost / NULLIF(q.total, 0)
FROM temp.question AS q
CROSS JOIN (
  SELECT COUNT(*) AS nodes, COALESCE(SUM(CASE WHEN n.line IS NULL THEN n.exclusive END), 0.0) AS cost
  FROM temp.question AS b
  CROSS JOIN temp.places AS n
  WHERE b.question_id = 1 AND NOT COALESCE(
    (:depth IS NULL OR n.depth <= :depth)
      AND (:min_pct IS NULL OR 100 * COALESCE(n.cumulative, n.exclusive) / NULLIF(b.total, 0) >= :min_pct),
    0
  )
) AS p
WHERE q.question_id = 1;
