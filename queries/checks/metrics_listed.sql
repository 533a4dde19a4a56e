-- Metrics whose positions do not run from 1 without gaps; runs with two metrics of timer readings, or with one that is not a
-- count; and totals of runs with trees that differ from the sum of the roots, unless the file states them.
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
