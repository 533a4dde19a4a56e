-- The run, the metric, and the correction of times.
INSERT INTO temp.question (question_id, run_id, metric_id, is_default, readings_id, readings_are_default, shift, total)
SELECT
  1,
  r.run_id,
  m.metric_id,
  m.metric_id = r.default_metric_id,
  t.metric_id,
  t.metric_id IS r.default_metric_id,
  :shift,
  m.total + :shift * COALESCE(t.total, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
LEFT JOIN metrics AS t ON t.run_id = r.run_id AND t.timer_readings = 1
WHERE r.run_id = :run AND m.metric_id = :metric;
