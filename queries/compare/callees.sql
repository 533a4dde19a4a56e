-- The callees of a function.
SELECT DISTINCT callee_id FROM edges WHERE metric_id = :metric AND caller_id = :function;
