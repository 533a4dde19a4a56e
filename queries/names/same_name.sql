-- The functions of a run that share a name with one of the given functions, with module, file, line, column, and 1 for code, 0 for containers.
WITH names AS (
  SELECT DISTINCT f.name
  FROM json_each(:functions) AS p
  CROSS JOIN functions AS f
  WHERE f.function_id = p.value
)
SELECT f.function_id, f.name, f.module, f.file, f.first_line, f.first_col, f.kind IN ('function', 'pseudo')
FROM names AS n
CROSS JOIN functions AS f ON f.name = n.name
CROSS JOIN runs AS r ON r.run_id = :run
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
ORDER BY f.name, f.file, f.first_line, f.module, f.function_id;
