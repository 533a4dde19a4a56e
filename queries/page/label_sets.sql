-- The labels of the samples of a run, one row per label and set.
SELECT s.set_id, s.key, CAST(s.value AS TEXT), s.unit
FROM label_sets AS s
WHERE s.run_id = :run
ORDER BY s.set_id, s.key, s.value, s.unit
