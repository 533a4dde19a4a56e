-- What a run says of functions, lines and edges, with another timer bias than the one that is stored. A function or line
-- without time or ticks has no row for them; all have one in the default metric.
CREATE TEMP VIEW asked_functions (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT
  i.function_id,
  i.calls,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
    + a.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
    + a.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
FROM temp.asked AS a
CROSS JOIN runs AS r
CROSS JOIN function_info AS i
LEFT JOIN function_info AS c ON c.metric_id = a.metric_id AND c.function_id = i.function_id
LEFT JOIN function_info AS t ON t.metric_id = a.ticks_id AND t.function_id = i.function_id
WHERE a.question = 1 AND r.run_id = a.run_id AND i.metric_id = r.default_metric_id;
CREATE TEMP VIEW asked_lines (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks
) AS
SELECT
  i.function_id,
  i.file,
  i.line,
  i.col,
  i.calls,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
    + a.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
    + a.shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
  CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
FROM temp.asked AS a
CROSS JOIN runs AS r
CROSS JOIN line_info AS i
LEFT JOIN line_info AS c
  ON c.metric_id = a.metric_id AND c.function_id = i.function_id
 AND c.file = i.file AND c.line = i.line AND c.col = i.col
LEFT JOIN line_info AS t
  ON t.metric_id = a.ticks_id AND t.function_id = i.function_id
 AND t.file = i.file AND t.line = i.line AND t.col = i.col
WHERE a.question = 1 AND r.run_id = a.run_id AND i.metric_id = r.default_metric_id;
CREATE TEMP VIEW asked_edges (
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
  e.exclusive + a.shift * t.exclusive,
  e.cumulative + a.shift * t.cumulative,
  e.outermost + a.shift * t.outermost
FROM temp.asked AS a
CROSS JOIN edges AS e
LEFT JOIN edges AS t
  ON t.metric_id = a.ticks_id AND t.callee_id = e.callee_id AND t.caller_id = e.caller_id
 AND t.caller_line = e.caller_line AND t.caller_col = e.caller_col AND t.kind = e.kind
WHERE a.question = 1 AND e.metric_id = a.metric_id;
