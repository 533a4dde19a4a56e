-- The functions of a run with figures for a line, with module, file and line.
SELECT DISTINCT f.function_id, f.name, f.module, IIF(i.file = '', f.file, i.file), i.line
FROM runs AS r
CROSS JOIN line_info AS i ON i.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = i.function_id
WHERE r.run_id = :run AND i.line = :line AND f.kind IN ('function', 'pseudo')
ORDER BY f.function_id;
