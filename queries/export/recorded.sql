-- Whether a file itself gives what functions cost themselves.
SELECT EXISTS (SELECT 1 FROM function_info WHERE metric_id = :metric AND recorded = 1 AND exclusive IS NOT NULL)
