-- What a run says of functions, lines and edges, with another timer bias than the one that is stored.
CREATE TEMP VIEW asked_functions (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT
  i.function_id,
  i.calls,
  i.exclusive + a.shift * COALESCE(t.exclusive, 0),
  i.cumulative + a.shift * COALESCE(t.cumulative, 0),
  COALESCE(t.exclusive, 0.0),
  COALESCE(t.cumulative, 0.0)
FROM temp.asked AS a
CROSS JOIN function_info AS i
LEFT JOIN function_info AS t ON t.metric_id = a.ticks_id AND t.function_id = i.function_id
WHERE a.question = 1 AND i.metric_id = a.metric_id;
CREATE TEMP VIEW asked_lines (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks
) AS
SELECT
  i.function_id,
  i.file,
  i.line,
  i.col,
  i.calls,
  i.exclusive + a.shift * COALESCE(t.exclusive, 0),
  i.cumulative + a.shift * COALESCE(t.cumulative, 0),
  COALESCE(t.exclusive, 0.0),
  COALESCE(t.cumulative, 0.0)
FROM temp.asked AS a
CROSS JOIN line_info AS i
LEFT JOIN line_info AS t
  ON t.metric_id = a.ticks_id AND t.function_id = i.function_id
 AND t.file = i.file AND t.line = i.line AND t.col = i.col
WHERE a.question = 1 AND i.metric_id = a.metric_id;
CREATE TEMP VIEW asked_edges (
  callee_id, caller_id, caller_line, caller_col, kind, calls, exclusive, cumulative, outermost
) AS
SELECT
  e.callee_id,
  e.caller_id,
  e.caller_line,
  e.caller_col,
  e.kind,
  e.calls,
  e.exclusive + a.shift * COALESCE(t.exclusive, 0),
  e.cumulative + a.shift * COALESCE(t.cumulative, 0),
  e.outermost + a.shift * COALESCE(t.outermost, 0)
FROM temp.asked AS a
CROSS JOIN edges AS e
LEFT JOIN edges AS t
  ON t.metric_id = a.ticks_id AND t.callee_id = e.callee_id AND t.caller_id = e.caller_id
 AND t.caller_line = e.caller_line AND t.caller_col = e.caller_col AND t.kind = e.kind
WHERE a.question = 1 AND e.metric_id = a.metric_id;
