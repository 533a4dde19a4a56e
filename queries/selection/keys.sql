-- What labels of a run say something about.
SELECT DISTINCT key
FROM label_sets
WHERE run_id = :run
ORDER BY key;
