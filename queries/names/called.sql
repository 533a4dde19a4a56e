-- Callers and callees in a run: pairs of different functions.
SELECT DISTINCT e.caller_id, e.callee_id
FROM runs AS r
CROSS JOIN edges AS e ON e.metric_id = r.default_metric_id
WHERE r.run_id = :run AND e.caller_id NOT IN (0, e.callee_id)
ORDER BY e.caller_id, e.callee_id;
