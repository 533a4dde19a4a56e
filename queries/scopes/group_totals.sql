-- Groups of functions where no paths are known: how much of the cost of several is within one another nobody can say.
CREATE TEMP VIEW figures (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT
  g.group_id,
  CASE COUNT(*) WHEN COUNT(i.calls) THEN SUM(i.calls) END,
  CASE COUNT(*) WHEN COUNT(i.exclusive) THEN SUM(i.exclusive) END,
  CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative) END,
  SUM(i.exclusive_ticks),
  CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative_ticks) END
FROM temp.asked_functions AS i
CROSS JOIN temp.groups AS g
WHERE g.function_id = i.function_id
  -- The one function that is asked for, or all.
  AND (
    NOT EXISTS (SELECT 1 FROM temp.picked)
    OR EXISTS (SELECT 1 FROM temp.picked AS p WHERE p.step = 1 AND p.function_id = i.function_id)
  )
GROUP BY g.group_id;
