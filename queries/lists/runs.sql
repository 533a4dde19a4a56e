-- Runs, all or those in a JSON array, oldest first.
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
WHERE :runs IS NULL OR run_id IN (SELECT value FROM JSON_EACH(:runs))
ORDER BY run_id;
