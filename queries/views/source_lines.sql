CREATE VIEW source_lines (
  -- Source of the lines of a run, as imported with --source, one row per function and line. Join it with the view lines by
  -- run_id, function_id, file and line. It also has lines without figures (unless imported with --source-lines figures), stored
  -- lines of other functions in the same file, and lines that other runs with the same text have stored. Report function
  -- --all-lines selects the lines of one function. Select run_id and function_id.
  run_id,      -- number of the run
  function,    -- name of the function
  file,        -- file of the line, as the run names it; '' if unknown
  line,        -- the line, as the profiler numbers it (the first may be 0)
  text,        -- the line, without leading and trailing blanks
  sha256,      -- SHA-256 of the file or function that contains the line
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
