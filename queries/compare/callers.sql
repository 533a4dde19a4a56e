-- The callers of a function; 0 is the root.
SELECT DISTINCT caller_id FROM edges WHERE metric_id = :metric AND callee_id = :function;
