-- What threads, processes or values of a label are called.
SELECT group_id AS function_id, name, '' AS module, '' AS file, kind FROM group_costs
