-- The tags of runs, all or those in a JSON array, in the order of the runs: that of the table.
SELECT run_id, key, value
FROM run_tags
WHERE :runs IS NULL OR run_id IN (SELECT value FROM JSON_EACH(:runs))
ORDER BY run_id, key;
