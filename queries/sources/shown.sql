-- The current source of a run's lines. In this connection, this table hides the public view of the same name, which has the
-- source from the time of the import.
DROP TABLE IF EXISTS temp.source_lines;
CREATE TEMP TABLE source_lines (
  run_id      INTEGER NOT NULL, -- the run
  function_id INTEGER NOT NULL, -- the function
  file        TEXT NOT NULL,    -- file of the line, as the run names it; '' if unknown
  line        INTEGER NOT NULL, -- the line
  text        TEXT NOT NULL,    -- its source, without leading and trailing blanks
  PRIMARY KEY (run_id, function_id, file, line)
) STRICT, WITHOUT ROWID;
