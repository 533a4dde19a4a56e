-- What a run says of lines of its functions.
SELECT m.name AS metric, i.function_id AS function_key, i.file, i.line, i.col, i.calls, i.exclusive, i.recorded,
  CASE WHEN i.cumulative IS i.exclusive THEN NULL WHEN i.cumulative IS NULL THEN 9e999 ELSE i.cumulative END AS cumulative_other
FROM metrics AS m
JOIN line_info AS i ON i.metric_id = m.metric_id
WHERE m.run_id = :run
ORDER BY m.position;
