-- Functions that match a pattern (* any text, ? any character): by the name of the identity or of the function, by module, or
-- by file. With runs in a JSON array, only functions that occur in one of them.
WITH fitting AS (
  SELECT i.identity_id
  FROM identities AS i
  WHERE i.class = 'code' AND CASE :by WHEN 'module' THEN i.module WHEN 'file' THEN i.file ELSE i.name END GLOB :pattern
  UNION
  SELECT f.identity_id
  FROM functions AS f
  WHERE :by = 'function' AND f.name GLOB :pattern AND f.kind IN ('function', 'pseudo')
)
SELECT f.function_id, i.identity_id, i.name, i.module, i.file, i.unnamed
FROM fitting
CROSS JOIN identities AS i ON i.identity_id = fitting.identity_id
CROSS JOIN functions AS f ON f.identity_id = i.identity_id
WHERE f.kind IN ('function', 'pseudo') AND (
  :runs IS NULL OR EXISTS (
    SELECT 1
    FROM JSON_EACH(:runs) AS p
    CROSS JOIN runs AS r ON r.run_id = p.value
    CROSS JOIN function_info AS o ON o.metric_id = r.default_metric_id AND o.function_id = f.function_id
  )
)
ORDER BY i.name, i.module, i.file, i.identity_id, f.function_id;
