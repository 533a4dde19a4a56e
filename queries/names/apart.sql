-- Functions by their numbers, with what tells those of one name apart.
SELECT f.function_id, f.name || ' (' || COALESCE(NULLIF(f.file, ''), NULLIF(f.module, ''), 'unknown') || ')'
FROM json_each(:functions) AS p
CROSS JOIN functions AS f
WHERE f.function_id = p.value
ORDER BY f.name, f.file, f.module, f.function_id;
