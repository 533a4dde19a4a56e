-- How the figures of a metric vary, and which metric of the run counts the samples that they are of.
SELECT noise, observations, quantum FROM metrics WHERE metric_id = :metric;
