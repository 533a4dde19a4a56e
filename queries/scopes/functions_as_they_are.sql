-- Functions under their own names.
CREATE TEMP VIEW group_of (function_id, group_id) AS
SELECT function_id, function_id
FROM functions;
CREATE TEMP VIEW labels (function_id, name, module, file, kind, listed) AS
SELECT function_id, name, module, file, kind, kind IN ('function', 'pseudo')
FROM functions;
