-- The source texts of the functions of a run.
SELECT s.function_id, s.file, s.source_id
FROM run_sources AS s
WHERE s.run_id = :run
ORDER BY s.function_id, s.file
