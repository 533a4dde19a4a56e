-- Whether functions have a module or file: with one group only, all of them are in one, or none of them has any.
SELECT COUNT(DISTINCT g.group_id) > 1 OR COALESCE(MAX(n.name NOT LIKE '(% unknown)'), 0)
FROM group_of AS g
CROSS JOIN names AS n
WHERE n.function_id = g.function_id;
