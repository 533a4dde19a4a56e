-- Threads, processes or values of a label in place of functions.
SELECT group_id AS function_id, NULL AS calls, cost AS exclusive, cost AS cumulative FROM group_costs
