-- The metric of the report; total is 100 %.
SELECT metric_id, NULLIF(total, 0) AS total FROM metrics WHERE run_id = :run AND name = :metric
