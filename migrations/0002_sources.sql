CREATE TABLE sources (
  -- Source texts, as they were when a run was imported with `profdb import --source DIR`. A text is a file, or a function
  -- out of a script. The same text is one row, whatever runs and functions have it.
  source_id  INTEGER PRIMARY KEY, -- number of the text
  sha256     TEXT NOT NULL,       -- SHA-256 of the whole text: of the file (sha256sum); of a function in a script: of its
                                  -- lines, each with a line feed behind it
  first_line INTEGER NOT NULL     -- number of its first line: 1 in files, 0 (the header) in functions
             CHECK (first_line IN (0, 1)),
  UNIQUE (sha256, first_line)
) STRICT;

CREATE TABLE source_texts (
  -- The lines of source texts that some run has figures for; a text is never stored whole for its own sake.
  source_id INTEGER NOT NULL REFERENCES sources, -- the text
  line      INTEGER NOT NULL,                    -- number of the line, as the profiler counts
  text      TEXT NOT NULL,                       -- the line, without the blanks around it
  PRIMARY KEY (source_id, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_sources (
  -- Which text was the source of a function when a run was imported.
  run_id      INTEGER NOT NULL REFERENCES runs,      -- the run
  function_id INTEGER NOT NULL REFERENCES functions, -- the function
  file        TEXT NOT NULL,                         -- file of the lines, as the run names it; '' if unknown
  source_id   INTEGER NOT NULL REFERENCES sources,   -- the text
  PRIMARY KEY (run_id, function_id, file)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_sources_by_source ON run_sources (
  -- Finds the runs that have a text.
  source_id
);

CREATE TRIGGER runs_delete_sources AFTER DELETE ON runs BEGIN
  -- Takes with a run the source texts that no other run has.
  DELETE FROM source_texts
  WHERE source_id IN (SELECT source_id FROM run_sources WHERE run_id = OLD.run_id)
    AND NOT EXISTS (
      SELECT 1
      FROM run_sources AS other
      WHERE other.source_id = source_texts.source_id AND other.run_id <> OLD.run_id
    );
  DELETE FROM sources
  WHERE source_id IN (SELECT source_id FROM run_sources WHERE run_id = OLD.run_id)
    AND NOT EXISTS (
      SELECT 1
      FROM run_sources AS other
      WHERE other.source_id = sources.source_id AND other.run_id <> OLD.run_id
    );
  DELETE FROM run_sources WHERE run_id = OLD.run_id;
END;

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- What the planner is to expect, as for the other tables.
  ('sources', 'sqlite_autoindex_sources_1', '20000 1 1'),
  ('source_texts', 'source_texts', '200000 10 1'),
  ('run_sources', 'run_sources', '50000 5000 1 1'),
  ('run_sources', 'run_sources_by_source', '50000 3');

ANALYZE sqlite_schema;
