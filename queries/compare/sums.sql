-- Calls and costs of the functions of a run in one metric.
SELECT function_id, calls, exclusive, cumulative FROM function_info WHERE metric_id = :metric ORDER BY function_id;
