-- What files are called.
SELECT function_id, IIF(file = '', '(file unknown)', file) AS name, '' AS module, file, 'file' AS kind FROM functions
