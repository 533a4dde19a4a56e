-- The identities of the functions of a metric, one row per function in the order of their numbers.
SELECT d.function_id, i.identity_id, i.class = 'container', i.name, i.module, i.file, i.unnamed, i.identity_key
FROM function_info AS d
CROSS JOIN functions AS f ON f.function_id = d.function_id
LEFT JOIN identities AS i ON i.identity_id = f.identity_id
WHERE d.metric_id = :metric
ORDER BY d.function_id
