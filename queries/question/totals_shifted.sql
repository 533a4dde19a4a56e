-- Totals of functions, lines and edges, with another timer bias than the stored one. A function or line without time or
-- timer readings has no row for them; all have one in the default metric.
CREATE TEMP VIEW question_functions (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT
  i.function_id,
  i.calls,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
    + q.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
    + q.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
FROM temp.question AS q
CROSS JOIN runs AS r
CROSS JOIN function_info AS i
LEFT JOIN function_info AS c ON c.metric_id = q.metric_id AND c.function_id = i.function_id
LEFT JOIN function_info AS t ON t.metric_id = q.readings_id AND t.function_id = i.function_id
WHERE q.question_id = 1 AND r.run_id = q.run_id AND i.metric_id = r.default_metric_id;
CREATE TEMP VIEW question_lines (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
) AS
SELECT
  i.function_id,
  i.file,
  i.line,
  i.col,
  i.calls,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
    + q.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
    + q.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
FROM temp.question AS q
CROSS JOIN runs AS r
CROSS JOIN line_info AS i
LEFT JOIN line_info AS c
  ON c.metric_id = q.metric_id AND c.function_id = i.function_id
 AND c.file = i.file AND c.line = i.line AND c.col = i.col
LEFT JOIN line_info AS t
  ON t.metric_id = q.readings_id AND t.function_id = i.function_id
 AND t.file = i.file AND t.line = i.line AND t.col = i.col
WHERE q.question_id = 1 AND r.run_id = q.run_id AND i.metric_id = r.default_metric_id;
CREATE TEMP VIEW question_edges (
  callee_id, caller_id, caller_line, caller_col, kind, calls, exclusive, cumulative, outermost
) AS
-- An edge has a row in every metric.
SELECT
  e.callee_id,
  e.caller_id,
  e.caller_line,
  e.caller_col,
  e.kind,
  e.calls,
  e.exclusive + q.shift * t.exclusive,
  e.cumulative + q.shift * t.cumulative,
  e.outermost + q.shift * t.outermost
FROM temp.question AS q
CROSS JOIN edges AS e
LEFT JOIN edges AS t
  ON t.metric_id = q.readings_id AND t.callee_id = e.callee_id AND t.caller_id = e.caller_id
 AND t.caller_line = e.caller_line AND t.caller_col = e.caller_col AND t.kind = e.kind
WHERE q.question_id = 1 AND e.metric_id = q.metric_id;
