-- Costs of functions and lines with their timer readings; 0 readings without a row in that metric.
SELECT e.function_id, e.line_file, e.line, e.col, e.calls, e.exclusive, e.cumulative,
  IIF(t.col IS NULL, 0.0, t.exclusive) AS exclusive_readings, IIF(t.col IS NULL, 0.0, t.cumulative) AS cumulative_readings
FROM question AS q CROSS JOIN element_totals AS e LEFT JOIN element_totals AS t ON t.metric_id = q.readings_id
  AND t.function_id = e.function_id AND t.line_file = e.line_file AND t.line IS e.line AND t.col = e.col
WHERE e.metric_id = q.metric_id
