-- The identity of every function.
SELECT f.function_id, i.identity_id, i.name, i.module, i.file, i.unnamed
FROM functions AS f
CROSS JOIN identities AS i ON i.identity_id = f.identity_id
WHERE f.kind IN ('function', 'pseudo')
ORDER BY f.function_id;
