-- 1 if a run has a function with exactly the given name, else 0.
SELECT EXISTS (
  SELECT 1
  FROM functions AS f
  CROSS JOIN runs AS r
  CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
  WHERE r.run_id = :run AND f.name = :name
);
