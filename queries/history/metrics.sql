-- Metrics with the given name and unit of the runs in a JSON array, in the order of the array; runs without the metric have no
-- row.
SELECT r.key, m.metric_id, m.total, m.noise, m.observations, m.quantum
FROM JSON_EACH(:runs) AS r
CROSS JOIN metrics AS m ON m.run_id = r.value AND m.name = :name AND m.unit = :unit
ORDER BY r.key;
