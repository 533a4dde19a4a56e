-- The lines of the functions that the path names, one by one.

-- Figures of the lines. Who was called is known by function and line, and shown at the line in the function's own file, if
-- several files have it.
line_figures AS (
  SELECT i.function_id AS id, IIF(i.file = '', f.file, i.file) AS file, i.line, i.col, i.calls, i.exclusive, i.cumulative,
    i.file = MIN(i.file) OVER (PARTITION BY i.function_id, i.line) AS has_callees
  FROM line_costs AS i CROSS JOIN functions AS f
  WHERE i.function_id IN (SELECT function_id FROM $path_functions) AND f.function_id = i.function_id
)

-- Calls from lines.
line_calls AS (
  SELECT e.caller_id AS id, e.line, COALESCE(e.col, 0) AS col, e.callee_id, SUM(e.cumulative) AS cumulative
  FROM callees_of_selection AS e
  WHERE e.line IS NOT NULL
  GROUP BY e.caller_id, e.line, COALESCE(e.col, 0), e.callee_id
)

-- Lines with figures, and those of which only calls are known.
figured_lines AS (
  SELECT l.id, l.file, l.line, l.col, l.calls, l.exclusive, l.cumulative, l.has_callees FROM line_figures AS l
  UNION ALL
  SELECT DISTINCT c.id, f.file, c.line, c.col, NULL, NULL, NULL, 1
  FROM line_calls AS c CROSS JOIN functions AS f
  WHERE f.function_id = c.id
    AND NOT EXISTS (SELECT 1 FROM line_figures AS l WHERE l.id = c.id AND l.line = c.line AND l.col IN (0, c.col))
)

-- Lines that the run knows, and those where its functions begin.
known_lines AS (
  SELECT i.function_id, IIF(i.file = '', f.file, i.file) AS file, i.line
  FROM metrics AS m CROSS JOIN line_info AS i CROSS JOIN functions AS f
  WHERE m.run_id = :run AND i.metric_id = m.metric_id AND f.function_id = i.function_id
  UNION
  SELECT e.caller_id, f.file, e.caller_line
  FROM metrics AS m CROSS JOIN edges AS e CROSS JOIN functions AS f
  WHERE m.run_id = :run AND e.metric_id = m.metric_id AND e.caller_line >= 0 AND f.function_id = e.caller_id
  UNION
  SELECT i.function_id, f.file, f.first_line
  FROM metrics AS m CROSS JOIN function_info AS i CROSS JOIN functions AS f
  WHERE m.run_id = :run AND i.metric_id = m.metric_id AND f.function_id = i.function_id AND f.first_line > 0
)

-- Lines of the source, and known lines among them.
line_marks AS (
  SELECT p.id, p.file, s.line, 1 AS is_text, NULL AS own, NULL AS known
  FROM (SELECT DISTINCT id, file FROM figured_lines) AS p CROSS JOIN source_lines AS s
  WHERE s.run_id = :run AND s.function_id = p.id AND s.file = p.file
  UNION ALL
  SELECT p.id, p.file, k.line, 0, IIF(k.function_id = p.id, k.line, NULL), k.line
  FROM (SELECT DISTINCT id, file FROM figured_lines WHERE file <> '') AS p CROSS JOIN known_lines AS k
  WHERE k.file = p.file
)

-- Lines of the source of the functions: a line is of those that have the last known line before it. A text without a file is
-- that of one function.
function_source AS (
  SELECT a.id, a.file, a.line
  FROM (
    SELECT id, file, line, is_text, MAX(own) OVER above AS own, MAX(known) OVER above AS known FROM line_marks
    WINDOW above AS (PARTITION BY id, file ORDER BY line)
  ) AS a
  WHERE a.is_text AND (a.file = '' OR a.own = a.known)
)
