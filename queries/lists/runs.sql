-- All runs, oldest first.
SELECT
  run_id,
  run,
  format,
  fidelity,
  imported_at,
  metrics,
  functions,
  nodes,
  total,
  unit
FROM run_list
ORDER BY run_id;
