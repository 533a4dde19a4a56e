-- Groups functions by module.
INSERT INTO temp.groups (function_id, group_id)
SELECT f.function_id, MIN(f.function_id) OVER (PARTITION BY f.module)
FROM runs AS r
CROSS JOIN function_info AS i
CROSS JOIN functions AS f
WHERE r.run_id = :run
  AND i.metric_id = r.default_metric_id
  AND f.function_id = i.function_id
  AND f.kind IN ('function', 'pseudo');
CREATE TEMP VIEW group_of (function_id, group_id) AS
SELECT function_id, group_id
FROM temp.groups;
CREATE TEMP VIEW display_names (function_id, name, module, file, kind, listed) AS
SELECT function_id, CASE module WHEN '' THEN '(module unknown)' ELSE module END, module, '', 'module', 1
FROM functions;
