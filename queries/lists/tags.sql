-- The tags of runs, all or those in a JSON array.
SELECT run_id, key, value
FROM run_tags
WHERE :runs IS NULL OR run_id IN (SELECT value FROM JSON_EACH(:runs))
ORDER BY key, run_id;
