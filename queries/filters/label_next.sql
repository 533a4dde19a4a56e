-- Keeps the sets of labels that have one more wanted label.
DELETE FROM temp.wanted_sets
WHERE NOT EXISTS (
  SELECT 1
  FROM label_sets AS s
  WHERE s.run_id = :run
    AND s.set_id = wanted_sets.set_id
    AND s.key = :key
    AND (:value IS NULL OR :value IN (CAST(s.value AS TEXT), s.value || s.unit, s.value || ' ' || s.unit))
);
