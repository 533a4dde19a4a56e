CREATE VIEW source_lines (
  -- Source of the lines of a run, as it was when the run was imported with --source, one row per function and line. It
  -- goes with the view lines by run_id, function_id, file and line. There are more lines than that view has: those
  -- without figures, unless the import was told --source-lines figures; where the text is a file, what is stored of its other
  -- functions; and what other runs with the same text have stored of it. Report function --all-lines cuts out
  -- the lines of one function. Ask with run_id and function_id.
  run_id,      -- number of the run
  function,    -- name of the function
  file,        -- file of the line, as the run names it; '' if unknown
  line,        -- the line, as the profiler numbers it (the first may be 0)
  text,        -- the line, without the blanks around it
  sha256,      -- SHA-256 of the file or function that the line is from
  function_id  -- its number in table functions
) AS
SELECT
  s.run_id,
  f.name,
  s.file,
  t.line,
  t.text,
  o.sha256,
  s.function_id
FROM run_sources AS s
JOIN functions AS f ON f.function_id = s.function_id
JOIN sources AS o ON o.source_id = s.source_id
JOIN source_texts AS t ON t.source_id = s.source_id;
