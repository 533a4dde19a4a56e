-- What the callers' tree leaves out: functions it could begin with, their cost and its share.
SELECT
  p.functions,
  p.cost,
  100 * p.cost / NULLIF(q.total, 0)
FROM temp.question AS q
CROSS JOIN (
  SELECT
    COUNT(DISTINCT s.function_id) AS functions,
    COALESCE(SUM(CASE WHEN :exclusive THEN s.exclusive ELSE s.cumulative END), 0.0) AS cost
  FROM temp.starts AS s
  WHERE s.function_id NOT IN (SELECT k.function_id FROM temp.chains AS k WHERE k.level = 0)
) AS p
WHERE q.question_id = 1;
