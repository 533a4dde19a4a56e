-- The identity of a function.
SELECT f.kind, i.identity_key, i.name, i.module, i.file, i.unnamed, f.name, f.module, f.file, f.first_line
FROM functions AS f
JOIN identities AS i ON i.identity_id = f.identity_id
WHERE f.function_id = :function;
