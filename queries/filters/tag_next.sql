-- Of the sets of labels so far, those that one more tag fits.
DELETE FROM temp.tag_sets
WHERE NOT EXISTS (
  SELECT 1
  FROM label_sets AS s
  WHERE s.run_id = :run
    AND s.set_id = tag_sets.set_id
    AND s.key = :key
    AND (:value IS NULL OR :value IN (CAST(s.value AS TEXT), s.value || s.unit, s.value || ' ' || s.unit))
);
