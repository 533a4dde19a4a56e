-- 1 or 0 each: functions of a run have modules, functions of a run have files.
SELECT COALESCE(MAX(f.module <> ''), 0), COALESCE(MAX(f.file <> ''), 0)
FROM runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
CROSS JOIN functions AS f ON f.function_id = i.function_id
WHERE r.run_id = :run AND f.kind IN ('function', 'pseudo');
