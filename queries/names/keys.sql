-- The label keys of a run.
SELECT DISTINCT key
FROM label_sets
WHERE run_id = :run
ORDER BY key;
