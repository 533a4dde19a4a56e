-- What the callers' tree leaves out: functions it could begin with, their cost and its share.
SELECT
  COUNT(DISTINCT s.function_id),
  COALESCE(SUM(CASE WHEN :exclusive THEN s.exclusive ELSE s.cumulative END), 0.0),
  100 * COALESCE(SUM(CASE WHEN :exclusive THEN s.exclusive ELSE s.cumulative END), 0.0) / NULLIF(a.total, 0)
FROM temp.asked AS a
CROSS JOIN temp.starts AS s
WHERE a.question = 1
  AND NOT EXISTS (SELECT 1 FROM temp.chains AS k WHERE k.level = 0 AND k.function_id = s.function_id);
