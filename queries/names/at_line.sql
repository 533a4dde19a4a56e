-- The functions of a run whose definition starts at a line of any file, with module, file and line.
SELECT f.function_id, f.name, f.module, f.file, f.first_line
FROM runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = i.function_id
WHERE r.run_id = :run AND f.first_line = :line AND f.kind IN ('function', 'pseudo')
ORDER BY f.function_id;
