-- All threads of a run with their processes.
SELECT f.function_id, f.name, f.module
FROM runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = i.function_id
WHERE r.run_id = :run AND f.kind = 'thread'
ORDER BY f.name, f.module, f.function_id;
