-- 1 if any function has a module or file, else 0. A single group holds all functions, or all functions without a module or
-- file.
SELECT COUNT(DISTINCT g.group_id) > 1 OR COALESCE(MAX(n.name NOT LIKE '(% unknown)'), 0)
FROM group_of AS g
CROSS JOIN names AS n
WHERE n.function_id = g.function_id;
