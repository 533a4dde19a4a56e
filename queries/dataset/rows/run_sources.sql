-- The source texts of the functions of a run.
SELECT r.function_id AS function_key, r.file, s.sha256, s.first_line
FROM run_sources AS r
JOIN sources AS s ON s.source_id = r.source_id
WHERE r.run_id = :run;
