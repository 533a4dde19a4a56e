-- Costs of functions in metrics, both given as JSON arrays. CROSS JOIN enforces look-ups: a run may have many more functions.
SELECT m.key, i.calls, i.exclusive, i.cumulative
FROM JSON_EACH(:metrics) AS m
CROSS JOIN JSON_EACH(:functions) AS f
CROSS JOIN function_info AS i ON i.metric_id = m.value AND i.function_id = f.value
ORDER BY m.key, f.key;
