-- The functions of a run in the order of their numbers, with their identities.
SELECT f.function_id, f.kind, f.name, f.module, f.file, f.first_line, f.first_col, f.raw_name,
  lower(hex(i.identity_key)) AS identity_key, i.class AS identity_class, NULLIF(i.name, f.name) AS identity_name_other,
  i.module AS identity_module, i.file AS identity_file, i.unnamed
FROM functions AS f
LEFT JOIN identities AS i ON i.identity_id = f.identity_id
WHERE f.function_id IN (
  SELECT t.function_id FROM metrics AS m JOIN function_info AS t ON t.metric_id = m.metric_id WHERE m.run_id = :run
)
ORDER BY f.function_id;
