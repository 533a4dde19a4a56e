-- Tags of all runs, or of the runs in a JSON array, in the order of the table.
SELECT run_id, key, value
FROM run_tags
WHERE :runs IS NULL OR run_id IN (SELECT value FROM JSON_EACH(:runs))
ORDER BY run_id, key;
