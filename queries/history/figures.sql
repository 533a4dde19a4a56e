-- What functions cost in metrics: all in two JSON arrays. Look-ups: a run may have far more functions than these.
SELECT m.key, i.calls, i.exclusive, i.cumulative
FROM JSON_EACH(:metrics) AS m
CROSS JOIN JSON_EACH(:functions) AS f
CROSS JOIN function_info AS i ON i.metric_id = m.value AND i.function_id = f.value
ORDER BY m.key, f.key;
