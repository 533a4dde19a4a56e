-- The lines of the source texts of a run.
SELECT s.sha256, s.first_line, t.line, t.text
FROM sources AS s
JOIN source_texts AS t ON t.source_id = s.source_id
WHERE s.source_id IN (SELECT source_id FROM run_sources WHERE run_id = :run);
