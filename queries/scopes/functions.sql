-- Totals of the picked functions over the whole run.
CREATE TEMP VIEW function_costs (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT i.function_id, i.calls, i.exclusive, i.cumulative, i.exclusive_readings, i.cumulative_readings
FROM temp.picked AS p
CROSS JOIN temp.question_functions AS i
WHERE i.function_id = p.function_id;
CREATE TEMP VIEW line_costs (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
) AS
SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative, i.exclusive_readings, i.cumulative_readings
FROM temp.picked AS p
CROSS JOIN temp.question_lines AS i
WHERE i.function_id = p.function_id;
CREATE TEMP VIEW callers_of_selection (caller_id, line, col, kind, calls, exclusive, cumulative) AS
SELECT e.caller_id, NULLIF(e.caller_line, -1), NULLIF(e.caller_col, 0), e.kind, e.calls, e.exclusive, e.outermost
FROM temp.picked AS p
CROSS JOIN temp.question_edges AS e
WHERE e.callee_id = p.function_id;
CREATE TEMP VIEW callees_of_selection (callee_id, line, col, kind, calls, exclusive, cumulative) AS
SELECT e.callee_id, NULLIF(e.caller_line, -1), NULLIF(e.caller_col, 0), e.kind, e.calls, e.exclusive, e.cumulative
FROM temp.picked AS p
CROSS JOIN temp.question_edges AS e
WHERE e.caller_id = p.function_id;
CREATE TEMP VIEW selected (cost) AS
SELECT CASE COUNT(*) WHEN COUNT(cumulative) THEN COALESCE(SUM(cumulative), 0.0) END
FROM temp.function_costs;
