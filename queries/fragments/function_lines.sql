-- The lines of the functions at the end of the path, one row per line.

-- Calls by calling line.
line_calls AS (
  SELECT e.caller_id AS id, COALESCE(e.line_file, f.file) AS file, e.line, COALESCE(e.col, 0) AS col, e.callee_id,
    SUM(e.cumulative) AS cumulative
  FROM callees_of_selection AS e CROSS JOIN functions AS f WHERE e.line IS NOT NULL AND f.function_id = e.caller_id
  GROUP BY e.caller_id, COALESCE(e.line_file, f.file), e.line, COALESCE(e.col, 0), e.callee_id
)

-- Lines with figures, and lines with calls only.
figured_lines AS (
  SELECT i.function_id AS id, IIF(i.file = '', f.file, i.file) AS file, i.line, i.col, i.calls, i.exclusive, i.cumulative FROM line_costs AS i CROSS JOIN functions AS f
  WHERE i.function_id IN (SELECT function_id FROM $path_functions) AND f.function_id = i.function_id
  UNION ALL SELECT DISTINCT c.id, c.file, c.line, c.col, NULL, NULL, NULL FROM line_calls AS c CROSS JOIN functions AS f
  WHERE f.function_id = c.id AND NOT EXISTS (
    SELECT 1 FROM line_costs AS l WHERE l.function_id = c.id AND l.file = IIF(c.file = f.file, '', c.file) AND l.line = c.line AND l.col IN (0, c.col))
)

-- Lines with figures or calls, and lines where functions start.
known_lines AS (
  SELECT i.function_id, IIF(i.file = '', f.file, i.file) AS file, i.line FROM run_metrics CROSS JOIN line_info AS i USING (metric_id) CROSS JOIN functions AS f USING (function_id)
  UNION SELECT e.caller_id, IIF(e.line_file = '', f.file, e.line_file), e.caller_line FROM run_metrics CROSS JOIN edges AS e USING (metric_id) CROSS JOIN functions AS f
  WHERE e.caller_line >= 0 AND f.function_id = e.caller_id
  UNION SELECT i.function_id, f.file, f.first_line FROM run_metrics CROSS JOIN function_info AS i USING (metric_id) CROSS JOIN functions AS f USING (function_id) WHERE f.first_line > 0
)

run_metrics AS (
  SELECT metric_id FROM metrics WHERE run_id = :run
)

-- Source lines, and the known lines of the same file.
line_marks AS (
  SELECT p.id, p.file, COALESCE(s.line, k.line) AS line, s.line IS NOT NULL AS is_text, IIF(k.function_id = p.id, k.line, NULL) AS own, k.line AS known
  FROM (SELECT DISTINCT id, file FROM figured_lines) AS p CROSS JOIN (SELECT 0 AS wanted UNION ALL SELECT 1) AS text
  LEFT JOIN source_lines AS s ON text.wanted AND s.run_id = :run AND s.function_id = p.id AND s.file = p.file
  LEFT JOIN known_lines AS k ON k.file = IIF(text.wanted OR p.file = '', NULL, p.file)
)

-- Lines with figures, and source lines without. A source line belongs to the functions of the last known line before it. A text
-- without a file belongs to one function.
all_lines AS (
  SELECT l.id, l.file, l.line, l.col, l.calls, l.exclusive, l.cumulative FROM figured_lines AS l
  UNION ALL SELECT s.id, s.file, s.line, 0, NULL, NULL, NULL FROM (
    SELECT id, file, line, is_text, MAX(own) OVER above AS own, MAX(known) OVER above AS known FROM line_marks WINDOW above AS (PARTITION BY id, file ORDER BY line)
  ) AS s WHERE s.is_text AND (s.file = '' OR s.own = s.known)
    AND NOT EXISTS (SELECT 1 FROM figured_lines AS l WHERE l.id = s.id AND l.file = s.file AND l.line = s.line)
)
