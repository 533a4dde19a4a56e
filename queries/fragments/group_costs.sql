-- Threads, processes or label values instead of functions.

-- The groups, and a row for the selected cost outside all groups. The threshold allows for rounding errors of the sums.
group_costs AS (
  SELECT group_id, name, kind, cost FROM $known_groups
  UNION ALL
  SELECT -1, '(no ' || :group_word || ')', :kind, s.cost - shared.cost FROM selected AS s CROSS JOIN shared
  WHERE ABS(s.cost - shared.cost) > 1e-9 * ABS(s.cost)
)

-- Threads, processes or label values in the columns of functions.
function_costs AS (
  SELECT group_id AS function_id, NULL AS calls, MAX(cost) AS exclusive, MAX(cost) AS cumulative, NULL AS seen FROM group_costs GROUP BY group_id
)

-- Names of threads, processes or label values.
names AS (
  SELECT group_id AS function_id, MIN(name) AS name, '' AS module, '' AS file, 0 AS first_line, MIN(kind) AS kind FROM group_costs GROUP BY group_id
)
