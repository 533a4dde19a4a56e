-- Calls and costs of functions in the whole run.
SELECT i.function_id, i.calls, i.exclusive, i.cumulative FROM question AS q CROSS JOIN function_info AS i
WHERE i.metric_id = q.metric_id$picked
