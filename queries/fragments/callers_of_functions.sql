-- Who called the functions of the first step, in the whole run.
SELECT e.caller_id, NULLIF(e.caller_line, -1) AS line, NULLIF(e.caller_col, 0) AS col, e.kind, e.calls, e.exclusive,
  e.outermost AS cumulative
FROM question AS q CROSS JOIN step_1_functions AS p CROSS JOIN $edges AS e
WHERE $edges_of_metric AND e.callee_id = p.function_id
