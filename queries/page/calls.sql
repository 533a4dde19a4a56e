-- Who called whom in one metric, with the cost that adds up over callers and the one that callers have spent.
SELECT e.caller_id, e.callee_id, e.caller_line, e.caller_col, e.back, e.calls, e.exclusive, e.cumulative, e.outermost,
  e.line_file
FROM edges AS e
WHERE e.metric_id = :metric
ORDER BY e.callee_id, e.back, e.caller_id, e.line_file, e.caller_line, e.caller_col
