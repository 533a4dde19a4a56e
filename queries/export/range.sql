-- The first and the last node of a run, and the metric whose costs they hold; no row where it has none.
SELECT
  r.first_node,
  r.last_node,
  r.default_metric_id
FROM runs AS r
WHERE r.run_id = :run
  AND r.first_node IS NOT NULL
