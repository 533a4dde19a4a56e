-- What a run says of its functions in one metric, as reports about the whole run read it.
SELECT i.function_id, i.calls, i.exclusive, i.cumulative, i.seen
FROM function_info AS i
WHERE i.metric_id = :metric
ORDER BY i.function_id
