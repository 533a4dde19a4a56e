-- Costs of functions and lines in the metric of the question.
SELECT e.function_id, e.line_file, e.line, e.col, e.calls, e.exclusive, e.cumulative, NULL AS exclusive_readings,
  NULL AS cumulative_readings
FROM question AS q CROSS JOIN element_totals AS e WHERE e.metric_id = q.metric_id
