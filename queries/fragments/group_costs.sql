-- The groups, and the selected cost that belongs to none, if there is any: sums are as inexact as their parts.
SELECT group_id, name, kind, cost FROM known_groups
UNION ALL
SELECT -1, '(no ' || :group_word || ')', :kind, s.cost - shared.cost FROM selected AS s CROSS JOIN shared
WHERE ABS(s.cost - shared.cost) > 1e-9 * ABS(s.cost)
