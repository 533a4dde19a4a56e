CREATE TABLE source_texts (
  -- The lines of source texts. `profdb import --source DIR` stores those of the functions that the run has figures for: each
  -- from its first known line, or from where it begins if that is known, up to the next known line of another function in the
  -- file; of a script all of the function. With --source-lines figures, and before version 9, these are lines with figures only.
  source_id INTEGER NOT NULL REFERENCES sources (source_id), -- the text
  line      INTEGER NOT NULL,                                -- number of the line, as the profiler counts
  text      TEXT NOT NULL,                                   -- the line, without the blanks around it
  PRIMARY KEY (source_id, line)
) STRICT, WITHOUT ROWID;
