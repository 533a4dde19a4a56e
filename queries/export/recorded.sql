-- 1 if the file states totals of functions, else 0.
SELECT EXISTS (SELECT 1 FROM function_info WHERE metric_id = :metric AND recorded = 1)
