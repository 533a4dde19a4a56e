-- Calls with their costs, for another timer bias. A call has a row in every metric.
SELECT
  e.callee_id, e.caller_id, e.caller_line, e.caller_col, e.kind, e.calls, e.exclusive + :shift * t.exclusive AS exclusive,
  e.cumulative + :shift * t.cumulative AS cumulative, e.outermost + :shift * t.outermost AS outermost
FROM question AS q CROSS JOIN edges AS e
LEFT JOIN edges AS t
  ON t.metric_id = q.readings_id AND t.callee_id = e.callee_id AND t.caller_id = e.caller_id
 AND t.caller_line = e.caller_line AND t.caller_col = e.caller_col AND t.kind = e.kind
WHERE e.metric_id = q.metric_id
