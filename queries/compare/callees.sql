-- Whom a function called.
SELECT DISTINCT callee_id FROM edges WHERE metric_id = :metric AND caller_id = :function;
