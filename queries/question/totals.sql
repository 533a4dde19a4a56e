-- Totals of functions, lines and edges in the metric of the question.
CREATE TEMP VIEW question_functions (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT
  i.function_id,
  i.calls,
  i.exclusive,
  i.cumulative,
  CASE WHEN q.readings_id IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN q.readings_id IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
FROM temp.question AS q
CROSS JOIN function_info AS i
LEFT JOIN function_info AS t ON t.metric_id = q.readings_id AND t.function_id = i.function_id
WHERE q.question_id = 1 AND i.metric_id = q.metric_id;
CREATE TEMP VIEW question_lines (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
) AS
SELECT
  i.function_id,
  i.file,
  i.line,
  i.col,
  i.calls,
  i.exclusive,
  i.cumulative,
  CASE WHEN q.readings_id IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN q.readings_id IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
FROM temp.question AS q
CROSS JOIN line_info AS i
LEFT JOIN line_info AS t
  ON t.metric_id = q.readings_id AND t.function_id = i.function_id
 AND t.file = i.file AND t.line = i.line AND t.col = i.col
WHERE q.question_id = 1 AND i.metric_id = q.metric_id;
CREATE TEMP VIEW question_edges (
  callee_id, caller_id, caller_line, caller_col, kind, calls, exclusive, cumulative, outermost
) AS
SELECT
  e.callee_id, e.caller_id, e.caller_line, e.caller_col, e.kind, e.calls, e.exclusive, e.cumulative, e.outermost
FROM temp.question AS q
CROSS JOIN edges AS e
WHERE q.question_id = 1 AND e.metric_id = q.metric_id;
