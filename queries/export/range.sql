-- The first and last node of a run, and the metric of their costs; no row for a run without nodes.
SELECT
  r.first_node,
  r.last_node,
  r.default_metric_id
FROM runs AS r
WHERE r.run_id = :run
  AND r.first_node IS NOT NULL
