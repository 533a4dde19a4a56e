-- Threads, processes or values of a label in place of functions.
CREATE TEMP VIEW function_costs (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT group_id, NULL, cost, cost, NULL, NULL
FROM temp.group_costs;
CREATE TEMP VIEW display_names (function_id, name, module, file, kind, listed) AS
SELECT group_id, name, '', '', kind, 1
FROM temp.group_costs;
