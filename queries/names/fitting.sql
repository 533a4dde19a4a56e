-- The functions of a run whose name matches a pattern (* any text, ? any character).
SELECT f.function_id
FROM runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = i.function_id
WHERE r.run_id = :run AND f.name GLOB :pattern AND f.kind IN ('function', 'pseudo')
ORDER BY f.function_id;
