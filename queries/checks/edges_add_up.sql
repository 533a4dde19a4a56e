-- Functions of tree runs whose callers do not add up to their totals. Figures that the file itself gave are left out.
SELECT i.metric_id, i.function_id
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN function_info AS i ON i.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = i.function_id
LEFT JOIN (
  SELECT
    metric_id,
    callee_id,
    CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END AS calls,
    SUM(exclusive) AS exclusive,
    SUM(outermost) AS outermost,
    SUM(seen) AS seen
  FROM edges
  WHERE kind = 'call'
  GROUP BY metric_id, callee_id
) AS e ON e.metric_id = i.metric_id AND e.callee_id = i.function_id
WHERE r.fidelity = 'tree'
  AND i.recorded = 0
  AND f.kind IN ('function', 'pseudo')
  AND (
    i.calls IS NOT e.calls
    OR ABS(i.exclusive - COALESCE(e.exclusive, 0)) > 1e-6 + 1e-9 * ABS(i.exclusive)
    OR ABS(i.cumulative - COALESCE(e.outermost, 0)) > 1e-6 + 1e-9 * ABS(i.cumulative)
    OR ABS(i.seen - COALESCE(e.seen, 0)) > 1e-6 + 1e-9 * ABS(i.seen)
  )
ORDER BY i.metric_id, i.function_id;
