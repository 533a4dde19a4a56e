-- What the run says of one function, wherever it was called.
CREATE TEMP VIEW figures (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT i.function_id, i.calls, i.exclusive, i.cumulative, i.exclusive_ticks, i.cumulative_ticks
FROM temp.picked AS p
CROSS JOIN temp.asked_functions AS i
WHERE i.function_id = p.function_id;
CREATE TEMP VIEW line_figures (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks
) AS
SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative, i.exclusive_ticks, i.cumulative_ticks
FROM temp.picked AS p
CROSS JOIN temp.asked_lines AS i
WHERE i.function_id = p.function_id;
CREATE TEMP VIEW arrivals (caller_id, line, col, kind, calls, exclusive, cumulative) AS
SELECT e.caller_id, NULLIF(e.caller_line, -1), NULLIF(e.caller_col, 0), e.kind, e.calls, e.exclusive, e.outermost
FROM temp.picked AS p
CROSS JOIN temp.asked_edges AS e
WHERE e.callee_id = p.function_id;
CREATE TEMP VIEW departures (callee_id, line, col, kind, calls, exclusive, cumulative) AS
SELECT e.callee_id, NULLIF(e.caller_line, -1), NULLIF(e.caller_col, 0), e.kind, e.calls, e.exclusive, e.cumulative
FROM temp.picked AS p
CROSS JOIN temp.asked_edges AS e
WHERE e.caller_id = p.function_id;
CREATE TEMP VIEW selected (cost) AS
SELECT CASE COUNT(*) WHEN COUNT(cumulative) THEN COALESCE(SUM(cumulative), 0.0) END
FROM temp.figures;
