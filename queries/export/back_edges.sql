-- The number of calls of a run without a known cost of their own.
SELECT COUNT(*) FILTER (WHERE e.back = 1) AS back_edges
FROM runs AS r
CROSS JOIN edges AS e ON e.metric_id = r.default_metric_id
WHERE r.run_id = :run
