-- Whether the file itself says what functions of a run cost alone.
SELECT EXISTS (
  SELECT 1
  FROM question AS q
  CROSS JOIN function_info AS i
  WHERE i.metric_id = q.metric_id AND i.recorded = 1 AND i.exclusive IS NOT NULL
);
