-- The functions of a run with module, file, line, column, and 1 for code, 0 for containers.
SELECT f.function_id, f.name, f.module, f.file, f.first_line, f.first_col, f.kind IN ('function', 'pseudo')
FROM runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = i.function_id
WHERE r.run_id = :run
ORDER BY f.function_id;
