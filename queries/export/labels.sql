-- How many different sets of labels the samples of a run have; they are numbered from 1.
SELECT MAX(l.set_id) AS label_sets
FROM label_sets AS l
WHERE l.run_id = :run
