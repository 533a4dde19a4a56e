-- Functions of one $group_word are counted as one, whose number is that of the first.
SELECT f.function_id, MIN(f.function_id) OVER (PARTITION BY f.$group_word) AS group_id
FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f
WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id
  AND f.kind IN ('function', 'pseudo')
