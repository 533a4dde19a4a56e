-- Functions with nodes but without a row in function_info, functions that occur in no run, and runs with a wrong number of
-- functions.
SELECT n.run_id, n.function_id
FROM function_nodes AS n
JOIN runs AS r ON r.run_id = n.run_id
LEFT JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = n.function_id
WHERE i.function_id IS NULL
UNION ALL
SELECT NULL, f.function_id
FROM functions AS f
WHERE NOT EXISTS (
  SELECT 1
  FROM runs AS r
  CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
)
UNION ALL
SELECT r.run_id, NULL
FROM runs AS r
WHERE r.functions <> (
  SELECT COUNT(*)
  FROM function_info AS i
  CROSS JOIN functions AS f ON f.function_id = i.function_id
  WHERE i.metric_id = r.default_metric_id AND f.kind IN ('function', 'pseudo')
)
ORDER BY 1, 2;
