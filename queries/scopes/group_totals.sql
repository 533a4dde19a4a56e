-- Groups of functions where no paths are known: how much of their cost is within one another nobody can say.
CREATE TEMP VIEW figures (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT
  g.group_id,
  CASE COUNT(*) WHEN COUNT(i.calls) THEN SUM(i.calls) END,
  CASE COUNT(*) WHEN COUNT(i.exclusive) THEN SUM(i.exclusive) END,
  NULL,
  SUM(i.exclusive_ticks),
  NULL
FROM temp.asked_functions AS i
CROSS JOIN temp.groups AS g
WHERE g.function_id = i.function_id
GROUP BY g.group_id;
