-- The first and the last node of a run; no row where it has none.
SELECT
  r.first_node,
  r.last_node
FROM runs AS r
WHERE r.run_id = :run
  AND r.first_node IS NOT NULL
