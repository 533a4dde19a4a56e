-- Threads, processes or values of a label in place of functions.

-- The groups, and the selected cost that belongs to none, if there is any: sums are as inexact as their parts.
group_costs AS (
  SELECT group_id, name, kind, cost FROM $known_groups
  UNION ALL
  SELECT -1, '(no ' || :group_word || ')', :kind, s.cost - shared.cost FROM selected AS s CROSS JOIN shared
  WHERE ABS(s.cost - shared.cost) > 1e-9 * ABS(s.cost)
)

-- Threads, processes or values of a label in place of functions.
function_costs AS (
  SELECT group_id AS function_id, NULL AS calls, MAX(cost) AS exclusive, MAX(cost) AS cumulative, NULL AS seen FROM group_costs GROUP BY group_id
)

-- What threads, processes or values of a label are called.
names AS (
  SELECT group_id AS function_id, MIN(name) AS name, '' AS module, '' AS file, 0 AS first_line, MIN(kind) AS kind FROM group_costs GROUP BY group_id
)
