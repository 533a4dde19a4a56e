-- The number of label sets of a run; they are numbered from 1.
SELECT MAX(l.set_id) AS label_sets
FROM label_sets AS l
WHERE l.run_id = :run
