-- Lines whose totals are not what their nodes add up to. Figures that the file itself gave are left out.
SELECT i.metric_id, i.function_id, i.line, i.col
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN line_info AS i ON i.metric_id = m.metric_id
JOIN (
  SELECT
    t.run_id,
    t.metric,
    n.function_id,
    COALESCE(n.file, '') AS file,
    n.line,
    COALESCE(n.col, 0) AS col,
    CASE COUNT(*) WHEN COUNT(t.calls) THEN SUM(t.calls) END AS calls,
    SUM(t.exclusive) AS exclusive,
    CASE COUNT(*)
      WHEN COUNT(t.cumulative) THEN SUM(CASE WHEN t.outer_id IS NULL THEN t.cumulative ELSE 0 END)
    END AS cumulative
  FROM tree AS t
  JOIN nodes AS n ON n.node_id = t.node_id
  WHERE t.line IS NOT NULL
  GROUP BY t.run_id, t.metric, n.function_id, n.file, n.line, n.col
) AS counted ON counted.run_id = r.run_id AND counted.metric = m.name AND counted.function_id = i.function_id
            AND counted.file = i.file AND counted.line = i.line AND counted.col = i.col
WHERE i.recorded = 0
  AND (
    i.calls IS NOT counted.calls
    OR ABS(i.exclusive - counted.exclusive) > 1e-6 + 1e-9 * ABS(counted.exclusive)
    OR (i.cumulative IS NULL) <> (counted.cumulative IS NULL)
    OR ABS(i.cumulative - counted.cumulative) > 1e-6 + 1e-9 * ABS(counted.cumulative)
  )
ORDER BY i.metric_id, i.function_id, i.line, i.col;
