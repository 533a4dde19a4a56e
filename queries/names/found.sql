-- The functions of a JSON array that occur in a run.
SELECT i.function_id
FROM json_each(:functions) AS p
CROSS JOIN runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = p.value
WHERE r.run_id = :run
ORDER BY i.function_id;
