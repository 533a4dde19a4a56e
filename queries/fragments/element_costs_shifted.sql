-- The same for another timer bias in a metric that is not the default one, which has all functions and lines.
SELECT e.function_id, e.line_file, e.line, e.col, e.calls, IIF(c.col IS NULL, 0.0, c.exclusive) AS exclusive,
  IIF(c.col IS NULL, 0.0, c.cumulative) AS cumulative,
  IIF(t.col IS NULL, 0.0, t.exclusive) AS exclusive_readings, IIF(t.col IS NULL, 0.0, t.cumulative) AS cumulative_readings
FROM question AS q CROSS JOIN element_totals AS e LEFT JOIN element_totals AS c ON c.metric_id = q.metric_id
  AND c.function_id = e.function_id AND c.line_file = e.line_file AND c.line IS e.line AND c.col = e.col
LEFT JOIN element_totals AS t ON t.metric_id = q.readings_id
  AND t.function_id = e.function_id AND t.line_file = e.line_file AND t.line IS e.line AND t.col = e.col
WHERE e.metric_id = q.default_metric_id
