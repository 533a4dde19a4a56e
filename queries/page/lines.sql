-- What a run says of its lines in one metric, as reports about the whole run read it.
SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
FROM line_info AS i
WHERE i.metric_id = :metric
ORDER BY i.function_id, i.file, i.line, i.col
