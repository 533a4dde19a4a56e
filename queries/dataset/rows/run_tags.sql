-- The tags of a run.
SELECT key, value FROM run_tags WHERE run_id = :run ORDER BY key;
