-- The metric of the report, and the metric of timer readings: each reading adds :shift ns.
SELECT m.metric_id, r.default_metric_id, t.metric_id AS readings_id, NULLIF(m.total + :shift * t.total, 0) AS total
FROM runs AS r JOIN metrics AS m USING (run_id) JOIN metrics AS t USING (run_id)
WHERE r.run_id = :run AND m.name = :metric AND t.timer_readings
