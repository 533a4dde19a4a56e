-- What the functions of a run cost in one metric.
SELECT function_id, calls, exclusive, cumulative FROM function_info WHERE metric_id = :metric ORDER BY function_id;
