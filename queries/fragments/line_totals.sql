-- Calls and costs of lines in the whole run.
SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
FROM question AS q CROSS JOIN line_info AS i WHERE i.metric_id = q.metric_id$picked
