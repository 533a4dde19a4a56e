-- Calls of a run by caller, with costs in one metric. Every metric has the same pairs.
SELECT
  NULLIF(e.caller_id, 0) AS caller_id,
  e.callee_id,
  NULLIF(e.caller_line, -1) AS caller_line,
  e.caller_col,
  e.back,
  e.calls,
  e.exclusive,
  e.cumulative,
  e.seen,
  e.line_file
FROM runs AS r
CROSS JOIN metrics AS m ON m.run_id = r.run_id AND m.metric_id = :metric
CROSS JOIN edges AS e ON e.metric_id = m.metric_id
WHERE r.run_id = :run
ORDER BY e.caller_id, e.callee_id, e.back, e.line_file, e.caller_line, e.caller_col
