-- The identities of all functions of a metric, without the functions' names in the run.
SELECT d.function_id, f.kind, i.identity_key, i.name, i.module, i.file, i.unnamed
FROM function_info AS d
CROSS JOIN functions AS f ON f.function_id = d.function_id
CROSS JOIN identities AS i ON i.identity_id = f.identity_id
WHERE d.metric_id = :metric
ORDER BY d.function_id;
