-- The values of a label of a run, with their units.
SELECT DISTINCT value || CASE unit WHEN '' THEN '' ELSE ' ' || unit END
FROM label_sets
WHERE run_id = :run AND key = :key
ORDER BY 1;
