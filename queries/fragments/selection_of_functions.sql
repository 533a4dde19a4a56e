-- The selection as functions, with the calls from and to it.

-- The cost of the selected functions; NULL if the cost of any of them is unknown.
selected AS (
  SELECT CASE COUNT(*) WHEN COUNT(i.cumulative) THEN COALESCE(SUM(i.cumulative), 0.0) END AS cost FROM totals AS i
)

-- Callers of the functions of the first step, in the whole run.
callers_of_selection AS (
  SELECT e.caller_id, NULLIF(e.line_file, '') AS line_file, NULLIF(e.caller_line, -1) AS line, NULLIF(e.caller_col, 0) AS col,
    e.kind, e.calls, e.exclusive, e.outermost AS cumulative
  FROM question AS q CROSS JOIN step_1_functions AS p CROSS JOIN $edges AS e
  WHERE $edges_of_metric AND e.callee_id = p.function_id
)

-- Callees of the functions of the first step, in the whole run.
callees_of_selection AS (
  SELECT e.callee_id, e.caller_id, NULLIF(e.line_file, '') AS line_file, NULLIF(e.caller_line, -1) AS line,
    NULLIF(e.caller_col, 0) AS col, e.kind, e.calls, e.exclusive, e.cumulative
  FROM question AS q CROSS JOIN step_1_functions AS p CROSS JOIN $edges AS e
  WHERE $edges_of_metric AND e.caller_id = p.function_id
)
