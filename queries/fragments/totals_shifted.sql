-- Totals of functions, lines and calls, recomputed for the timer bias of `--bias`.

-- Calls and costs of functions in the whole run, for another timer bias. The default metric has all functions; the metrics of
-- time and timer readings omit functions without a cost.
totals AS (
  SELECT
    i.function_id, i.calls,
    CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
      + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END AS exclusive,
    CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
      + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END AS cumulative,
    CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.seen END
      + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.seen END AS seen
  FROM question AS q CROSS JOIN function_info AS i
  LEFT JOIN function_info AS c ON c.metric_id = q.metric_id AND c.function_id = i.function_id
  LEFT JOIN function_info AS t ON t.metric_id = q.readings_id AND t.function_id = i.function_id
  WHERE i.metric_id = q.default_metric_id$picked
)

-- Calls and costs of lines in the whole run, for another timer bias.
line_costs AS (
  SELECT
    i.function_id, i.file, i.line, i.col, i.calls,
    CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
      + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END AS exclusive,
    CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
      + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END AS cumulative
  FROM question AS q CROSS JOIN line_info AS i
  LEFT JOIN line_info AS c
    ON c.metric_id = q.metric_id AND c.function_id = i.function_id AND c.file = i.file AND c.line = i.line AND c.col = i.col
  LEFT JOIN line_info AS t
    ON t.metric_id = q.readings_id AND t.function_id = i.function_id AND t.file = i.file AND t.line = i.line AND t.col = i.col
  WHERE i.metric_id = q.default_metric_id$picked
)

-- Costs of functions and lines in a metric other than the default metric, which has all functions and lines, for another timer
-- bias.
element_costs AS (
  SELECT e.function_id, e.line_file, e.line, e.col, e.calls, IIF(c.col IS NULL, 0.0, c.exclusive) AS exclusive,
    IIF(c.col IS NULL, 0.0, c.cumulative) AS cumulative,
    IIF(t.col IS NULL, 0.0, t.exclusive) AS exclusive_readings, IIF(t.col IS NULL, 0.0, t.cumulative) AS cumulative_readings
  FROM question AS q CROSS JOIN element_totals AS e LEFT JOIN element_totals AS c ON c.metric_id = q.metric_id
    AND c.function_id = e.function_id AND c.line_file = e.line_file AND c.line IS e.line AND c.col = e.col
  LEFT JOIN element_totals AS t ON t.metric_id = q.readings_id
    AND t.function_id = e.function_id AND t.line_file = e.line_file AND t.line IS e.line AND t.col = e.col
  WHERE e.metric_id = q.default_metric_id
)

-- Calls with their costs, for another timer bias. Every metric has a row for each call.
shifted_edges AS (
  SELECT
    e.callee_id, e.caller_id, e.line_file, e.caller_line, e.caller_col, e.kind, e.calls,
    e.exclusive + :shift * t.exclusive AS exclusive, e.cumulative + :shift * t.cumulative AS cumulative, e.outermost + :shift * t.outermost AS outermost
  FROM question AS q CROSS JOIN edges AS e
  LEFT JOIN edges AS t
    ON t.metric_id = q.readings_id AND t.callee_id = e.callee_id AND t.caller_id = e.caller_id
   AND t.back = e.back AND t.line_file = e.line_file AND t.caller_line = e.caller_line AND t.caller_col = e.caller_col
  WHERE e.metric_id = q.metric_id
)
