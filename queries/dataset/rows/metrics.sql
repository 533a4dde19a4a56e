-- The metrics of a run.
SELECT m.name AS metric, m.unit, m.position, m.total, m.total_source, m.timer_readings, m.noise, o.name AS observations, m.quantum
FROM metrics AS m
LEFT JOIN metrics AS o ON o.metric_id = m.observations
WHERE m.run_id = :run
ORDER BY m.position;
