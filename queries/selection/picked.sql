-- The functions that were picked, with what tells those of one name apart.
SELECT p.function_id, f.name || ' (' || COALESCE(NULLIF(f.file, ''), NULLIF(f.module, ''), 'unknown') || ')'
FROM temp.picked AS p
JOIN functions AS f USING (function_id)
ORDER BY f.name, f.file, f.module, p.function_id;
