-- The sets of labels that have every label asked for.
SELECT s.set_id FROM label_sets AS s WHERE s.run_id = :run AND s.key = :key_1$value_1$more_labels
