-- The known lines of a run, with the fields that locate their source: lines with figures, calling lines, and lines where
-- functions start.
SELECT
  f.function_id AS function_id,
  CASE i.file WHEN '' THEN f.file ELSE i.file END AS file,
  f.name AS name,
  i.line AS line,
  0 AS begins
FROM metrics AS m
CROSS JOIN line_info AS i ON i.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = i.function_id
WHERE m.run_id = :run
UNION
SELECT f.function_id, CASE e.line_file WHEN '' THEN f.file ELSE e.line_file END, f.name, e.caller_line, 0
FROM metrics AS m
CROSS JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.caller_id
WHERE m.run_id = :run AND e.caller_line >= 0
UNION
SELECT f.function_id, f.file, f.name, f.first_line, 1
FROM metrics AS m
CROSS JOIN function_info AS i ON i.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = i.function_id
WHERE m.run_id = :run AND f.first_line > 0
ORDER BY 1, 2, 3, 4, 5;
