-- Metrics of a run that are not numbered from 1 on; readings of the timer in more than one of them, or in one that counts
-- nothing; and totals of tree runs that are not what the roots add up to, unless the file itself states them.
SELECT m.run_id, NULL AS metric_id
FROM metrics AS m
GROUP BY m.run_id
HAVING MIN(m.position) <> 1
    OR MAX(m.position) <> COUNT(*)
    OR SUM(m.timer_readings) > 1
    OR SUM(m.timer_readings AND m.unit <> 'count') > 0
UNION ALL
SELECT m.run_id, m.metric_id
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
LEFT JOIN (
  SELECT t.run_id, t.metric, SUM(t.cumulative) AS whole, 1e-6 + 1e-9 * SUM(ABS(t.cumulative)) AS rounding
  FROM tree AS t
  WHERE t.depth = 0
  GROUP BY t.run_id, t.metric
) AS c ON c.run_id = m.run_id AND c.metric = m.name
WHERE r.fidelity = 'tree'
  AND m.total_source = 'counted'
  AND ABS(m.total - COALESCE(c.whole, 0)) > COALESCE(c.rounding, 1e-6)
ORDER BY 1, 2;
