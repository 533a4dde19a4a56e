-- Whether the file itself says what functions of a run cost alone.
SELECT EXISTS (
  SELECT 1
  FROM temp.question AS q
  CROSS JOIN function_info AS i
  WHERE q.question_id = 1 AND i.metric_id = q.metric_id AND i.recorded = 1 AND i.exclusive IS NOT NULL
);
