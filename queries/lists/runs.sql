-- All runs, or the runs in a JSON array, oldest first.
SELECT
  run_id,
  run,
  run_list.format,
  run_list.fidelity,
  run_list.imported_at,
  metrics,
  run_list.functions,
  nodes,
  total,
  unit,
  run_uid
FROM run_list
JOIN runs USING (run_id)
WHERE :runs IS NULL OR run_id IN (SELECT value FROM JSON_EACH(:runs))
ORDER BY run_id;
