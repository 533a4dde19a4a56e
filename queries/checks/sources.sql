-- Source texts without a run, without lines, or with lines before their first line, and references to missing runs, functions,
-- texts or lines.
SELECT 'sources' AS relation, s.source_id AS id
FROM sources AS s
WHERE NOT EXISTS (SELECT 1 FROM run_sources AS r WHERE r.source_id = s.source_id)
   OR NOT EXISTS (SELECT 1 FROM source_texts AS t WHERE t.source_id = s.source_id)
UNION ALL
SELECT 'source_texts', t.source_id
FROM source_texts AS t
LEFT JOIN sources AS s ON s.source_id = t.source_id
WHERE s.source_id IS NULL OR t.line < s.first_line
UNION ALL
SELECT 'run_sources', r.source_id
FROM run_sources AS r
LEFT JOIN runs AS n ON n.run_id = r.run_id
LEFT JOIN functions AS f ON f.function_id = r.function_id
LEFT JOIN sources AS s ON s.source_id = r.source_id
WHERE n.run_id IS NULL
   OR f.function_id IS NULL
   OR s.source_id IS NULL
   OR (
     -- A function without figures by line can have the line of its definition, or lines that call other functions.
     NOT (r.file = f.file AND r.file <> '' AND f.first_line > 0)
     AND NOT EXISTS (
       SELECT 1
       FROM line_info AS i
       WHERE i.metric_id = n.default_metric_id
         AND i.function_id = r.function_id
         AND r.file = CASE i.file WHEN '' THEN f.file ELSE i.file END
     )
     AND NOT EXISTS (
       SELECT 1
       FROM edges AS e
       WHERE e.metric_id = n.default_metric_id
         AND e.caller_id = r.function_id
         AND e.caller_line >= 0
         AND r.file = f.file
     )
   )
ORDER BY 1, 2;
