-- The sets of labels with a wanted label: by value, with or without its unit, or by key alone.
INSERT INTO temp.wanted_sets (set_id)
SELECT DISTINCT s.set_id
FROM label_sets AS s
WHERE s.run_id = :run
  AND s.key = :key
  AND (:value IS NULL OR :value IN (CAST(s.value AS TEXT), s.value || s.unit, s.value || ' ' || s.unit));
