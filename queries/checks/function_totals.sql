-- Functions whose totals are not what their nodes add up to. Figures that the file itself gave are left out.
SELECT i.metric_id, i.function_id
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN function_info AS i ON i.metric_id = m.metric_id
JOIN (
  SELECT
    t.run_id,
    t.metric,
    n.function_id,
    CASE COUNT(*) WHEN COUNT(t.calls) THEN SUM(t.calls) END AS calls,
    SUM(t.exclusive) AS exclusive,
    SUM(CASE WHEN t.outer_id IS NULL THEN t.cumulative ELSE 0 END) AS cumulative,
    SUM(t.cumulative) AS seen
  FROM tree AS t
  JOIN nodes AS n ON n.node_id = t.node_id
  WHERE t.line IS NULL
  GROUP BY t.run_id, t.metric, n.function_id
) AS counted ON counted.run_id = r.run_id AND counted.metric = m.name AND counted.function_id = i.function_id
WHERE i.recorded = 0
  AND (
    i.calls IS NOT counted.calls
    OR ABS(i.exclusive - counted.exclusive) > 1e-6 + 1e-9 * ABS(counted.exclusive)
    OR ABS(i.cumulative - counted.cumulative) > 1e-6 + 1e-9 * ABS(counted.cumulative)
    OR ABS(i.seen - counted.seen) > 1e-6 + 1e-9 * ABS(counted.seen)
  )
ORDER BY i.metric_id, i.function_id;
