-- The functions of a run that share an identity with one of the given functions, with name, module and file of the identity.
SELECT DISTINCT f.function_id, i.name, i.module, i.file
FROM JSON_EACH(:functions) AS p
CROSS JOIN functions AS g ON g.function_id = p.value
CROSS JOIN identities AS i ON i.identity_id = g.identity_id
CROSS JOIN functions AS f ON f.identity_id = i.identity_id
CROSS JOIN runs AS r
CROSS JOIN function_info AS o ON o.metric_id = r.default_metric_id AND o.function_id = f.function_id
WHERE r.run_id = :run
ORDER BY f.function_id;
