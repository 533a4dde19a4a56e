-- The functions and containers (threads, roots) of a run with the given name.
SELECT f.function_id, f.kind IN ('function', 'pseudo')
FROM functions AS f
CROSS JOIN runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
WHERE r.run_id = :run AND f.name = :name
ORDER BY f.function_id;
