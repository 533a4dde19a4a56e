-- Each function is a group of its own, under its own name.
CREATE TEMP VIEW group_of (function_id, group_id) AS
SELECT function_id, function_id
FROM functions;
CREATE TEMP VIEW display_names (function_id, name, module, file, kind, listed) AS
SELECT function_id, name, module, file, kind, kind IN ('function', 'pseudo')
FROM functions;
