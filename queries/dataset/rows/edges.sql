-- Who called whom in a run.
SELECT m.name AS metric, e.callee_id AS callee_key, NULLIF(e.caller_id, 0) AS caller_key, e.line_file, e.caller_line, e.caller_col, e.back, e.calls,
  e.exclusive, e.cumulative, e.outermost_other, e.seen_other
FROM metrics AS m
JOIN edges AS e ON e.metric_id = m.metric_id
WHERE m.run_id = :run
ORDER BY m.position;
