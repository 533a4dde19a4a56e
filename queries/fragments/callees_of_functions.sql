-- Whom the functions of the first step called, in the whole run.
SELECT e.callee_id, e.kind, e.calls, e.exclusive, e.cumulative
FROM question AS q CROSS JOIN step_1_functions AS p CROSS JOIN $edges AS e
WHERE $edges_of_metric AND e.caller_id = p.function_id
