-- Functions and lines of the whole run.
SELECT i.metric_id, i.function_id, '' AS line_file, NULL AS line, 0 AS col, i.calls, i.exclusive, i.cumulative
FROM metrics AS m CROSS JOIN function_info AS i WHERE m.run_id = :run AND i.metric_id = m.metric_id$picked
UNION ALL
SELECT i.metric_id, i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
FROM metrics AS m CROSS JOIN line_info AS i WHERE m.run_id = :run AND i.metric_id = m.metric_id$picked
