-- The metrics of one name and unit of runs: of each in a JSON array, in its order, that has one.
SELECT r.key, m.metric_id, m.total, m.noise, m.observations, m.quantum
FROM JSON_EACH(:runs) AS r
CROSS JOIN metrics AS m ON m.run_id = r.value AND m.name = :name AND m.unit = :unit
ORDER BY r.key;
