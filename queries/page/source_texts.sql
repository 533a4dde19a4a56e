-- The lines of a source text.
SELECT t.line, t.text
FROM source_texts AS t
WHERE t.source_id = :source
ORDER BY t.line
