-- The functions of a run with their totals in one metric. The run's default metric has a row for every function.
SELECT
  f.function_id,
  f.kind,
  f.name,
  f.module,
  f.file,
  f.first_line,
  f.first_col,
  f.raw_name,
  d.calls,
  CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.exclusive END AS exclusive,
  CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.cumulative END AS cumulative,
  CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.seen END AS seen
FROM runs AS r
CROSS JOIN function_info AS d ON d.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = d.function_id
LEFT JOIN function_info AS i ON i.metric_id = :metric AND i.function_id = d.function_id
WHERE r.run_id = :run
ORDER BY d.function_id
