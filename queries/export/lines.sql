-- Costs of the lines of a run in one metric. The run's default metric has a row for every line.
SELECT
  d.function_id,
  d.file,
  d.line,
  d.col,
  d.calls,
  CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.exclusive END AS exclusive,
  CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.cumulative END AS cumulative
FROM runs AS r
CROSS JOIN line_info AS d ON d.metric_id = r.default_metric_id
LEFT JOIN line_info AS i ON i.metric_id = :metric AND i.function_id = d.function_id AND i.file = d.file
                        AND i.line = d.line AND i.col = d.col
WHERE r.run_id = :run
ORDER BY d.function_id, d.file, d.line, d.col
