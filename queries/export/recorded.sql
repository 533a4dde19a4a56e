-- Whether a file itself gives totals of functions.
SELECT EXISTS (SELECT 1 FROM function_info WHERE metric_id = :metric AND recorded = 1)
