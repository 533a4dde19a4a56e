-- Costs of groups in runs without paths. The overlap of the inclusive costs of several functions is unknown.
SELECT g.group_id AS function_id,
  CASE COUNT(*) WHEN COUNT(i.calls) THEN SUM(i.calls / 4294967296) * 4294967296 + SUM(i.calls % 4294967296) END AS calls,
  CASE COUNT(*) WHEN COUNT(i.exclusive) THEN SUM(i.exclusive) END AS exclusive,
  CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative) END AS cumulative,
  CASE COUNT(*) WHEN COUNT(i.seen) THEN SUM(i.seen) END AS seen
FROM totals AS i CROSS JOIN group_of AS g
WHERE g.function_id = i.function_id
GROUP BY g.group_id
