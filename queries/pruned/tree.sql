-- What the tree of calls leaves out: nodes, the own cost of the functions among them, and its share.
SELECT
  COUNT(*),
  COALESCE(SUM(CASE WHEN n.line IS NULL THEN n.exclusive END), 0.0),
  100 * COALESCE(SUM(CASE WHEN n.line IS NULL THEN n.exclusive END), 0.0) / NULLIF(a.total, 0)
FROM temp.asked AS a
CROSS JOIN temp.places AS n
WHERE a.question = 1 AND NOT COALESCE(
  (:depth IS NULL OR n.depth <= :depth)
    AND (:min_pct IS NULL OR 100 * COALESCE(n.cumulative, n.exclusive) / NULLIF(a.total, 0) >= :min_pct),
  0
);
