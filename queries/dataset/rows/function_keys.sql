-- The functions of a run in the order of their numbers, with the fields of their keys.
SELECT f.function_id, f.kind, f.name, f.module, f.file, f.first_line, f.first_col
FROM functions AS f
WHERE f.function_id IN (
  SELECT t.function_id FROM metrics AS m JOIN function_info AS t ON t.metric_id = m.metric_id WHERE m.run_id = :run
)
ORDER BY f.function_id;
