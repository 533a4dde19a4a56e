-- The functions of a run whose identity has one of the names in a JSON array, with name, module and file of the identity, and line.
SELECT f.function_id, i.name, i.module, i.file, f.first_line
FROM identities AS i
CROSS JOIN functions AS f ON f.identity_id = i.identity_id
CROSS JOIN runs AS r
CROSS JOIN function_info AS o ON o.metric_id = r.default_metric_id AND o.function_id = f.function_id
WHERE r.run_id = :run AND i.class = 'code' AND i.name IN (SELECT value FROM JSON_EACH(:names))
ORDER BY f.function_id;
