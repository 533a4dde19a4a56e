-- What a run says of its functions.
SELECT m.name AS metric, i.function_id AS function_key, i.calls, i.primitive, i.exclusive, i.cumulative, i.recorded,
  CASE WHEN i.seen IS i.cumulative THEN NULL WHEN i.seen IS NULL THEN 9e999 ELSE i.seen END AS seen_other
FROM metrics AS m
JOIN function_info AS i ON i.metric_id = m.metric_id
WHERE m.run_id = :run
ORDER BY m.position;
