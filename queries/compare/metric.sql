-- The noise class of a metric, and the metric of the run that counts its samples.
SELECT noise, observations, quantum FROM metrics WHERE metric_id = :metric;
