-- The notes of the importer on a run.
SELECT ROW_NUMBER() OVER (ORDER BY note_id) AS position, severity, byte, line, message FROM notes WHERE run_id = :run ORDER BY note_id;
