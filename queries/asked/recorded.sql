-- Whether the file itself says what functions of a run cost alone.
SELECT EXISTS (
  SELECT 1
  FROM temp.asked AS a
  CROSS JOIN function_info AS i
  WHERE a.question = 1 AND i.metric_id = a.metric_id AND i.recorded = 1 AND i.exclusive IS NOT NULL
);
