-- What modules are called.
SELECT function_id, IIF(module = '', '(module unknown)', module) AS name, module, '' AS file, 'module' AS kind FROM functions
