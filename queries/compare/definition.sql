-- The definition of a function of a run: its line, its costs, and the text of the line if the run stores it.
SELECT f.first_line, f.first_col, c.exclusive, c.cumulative, (
    SELECT t.text FROM run_sources AS s
    CROSS JOIN source_texts AS t ON t.source_id = s.source_id AND t.line = f.first_line
    WHERE s.run_id = :run AND s.function_id = d.function_id AND s.file = f.file LIMIT 1) AS text
FROM function_info AS d
CROSS JOIN functions AS f ON f.function_id = d.function_id
LEFT JOIN function_info AS c ON c.metric_id = :metric AND c.function_id = d.function_id
WHERE d.metric_id = :calls AND d.function_id = :function;
