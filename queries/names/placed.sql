-- The functions of a run with exactly the given name, with module, file and line.
SELECT f.function_id, f.name, f.module, f.file, f.first_line
FROM functions AS f
CROSS JOIN runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
WHERE r.run_id = :run AND f.name = :name AND f.kind IN ('function', 'pseudo')
ORDER BY f.function_id;
