-- Stored totals of functions and lines.

-- Calls and costs of functions in the whole run.
totals AS (
  SELECT i.function_id, i.calls, i.exclusive, i.cumulative, i.seen FROM question AS q CROSS JOIN function_info AS i
  WHERE i.metric_id = q.metric_id$picked
)

-- Calls and costs of lines in the whole run.
line_costs AS (
  SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
  FROM question AS q CROSS JOIN line_info AS i WHERE i.metric_id = q.metric_id$picked
)

-- Functions and lines of the whole run.
element_totals AS (
  SELECT i.metric_id, i.function_id, '' AS line_file, NULL AS line, 0 AS col, i.calls, i.exclusive, i.cumulative
  FROM metrics AS m CROSS JOIN function_info AS i WHERE m.run_id = :run AND i.metric_id = m.metric_id$picked
  UNION ALL
  SELECT i.metric_id, i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
  FROM metrics AS m CROSS JOIN line_info AS i WHERE m.run_id = :run AND i.metric_id = m.metric_id$picked
)

-- Costs of functions and lines in the metric of the report.
element_costs AS (
  SELECT e.function_id, e.line_file, e.line, e.col, e.calls, e.exclusive, e.cumulative, NULL AS exclusive_readings,
    NULL AS cumulative_readings
  FROM question AS q CROSS JOIN element_totals AS e WHERE e.metric_id = q.metric_id
)
