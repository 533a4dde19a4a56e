-- 1 if the file states exclusive costs of functions, else 0.
SELECT EXISTS (
  SELECT 1
  FROM question AS q
  CROSS JOIN function_info AS i
  WHERE i.metric_id = q.metric_id AND i.recorded = 1 AND i.exclusive IS NOT NULL
);
