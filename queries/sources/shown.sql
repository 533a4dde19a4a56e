-- The source of a run's lines as it is now. In the statements of this connection the table hides the public view
-- of its name, which has the source as it was at the import.
DROP TABLE IF EXISTS temp.source_lines;
CREATE TEMP TABLE source_lines (
  run_id      INTEGER NOT NULL, -- the run
  function_id INTEGER NOT NULL, -- the function
  file        TEXT NOT NULL,    -- file of the line, as the run names it; '' if unknown
  line        INTEGER NOT NULL, -- the line
  text        TEXT NOT NULL,    -- its source, without the blanks around it
  PRIMARY KEY (run_id, function_id, file, line)
) STRICT, WITHOUT ROWID;
