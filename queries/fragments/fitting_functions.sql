-- The functions of the run whose name matches a pattern (* any text, ? any character).
SELECT f.function_id FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f
WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id
  AND f.name GLOB :name_$step AND f.kind IN ('function', 'pseudo')
