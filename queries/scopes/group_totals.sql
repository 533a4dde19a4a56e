-- Groups of functions where no paths are known: how much the cumulative costs of several functions overlap is unknown.
CREATE TEMP VIEW function_costs (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT
  g.group_id,
  CASE COUNT(*) WHEN COUNT(i.calls) THEN SUM(i.calls) END,
  CASE COUNT(*) WHEN COUNT(i.exclusive) THEN SUM(i.exclusive) END,
  CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative) END,
  SUM(i.exclusive_readings),
  CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative_readings) END
FROM temp.question_functions AS i
CROSS JOIN temp.groups AS g
WHERE g.function_id = i.function_id
  -- The picked function, or all.
  AND (
    NOT EXISTS (SELECT 1 FROM temp.picked)
    OR EXISTS (SELECT 1 FROM temp.picked AS p WHERE p.step = 1 AND p.function_id = i.function_id)
  )
GROUP BY g.group_id;
