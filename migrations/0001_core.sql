CREATE TABLE runs (
  -- One row per imported profile. Its nodes are the range first_node..last_node of table nodes. Deleting a row here
  -- deletes everything that belongs to the run.
  run_id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again after a delete
  run_uid           TEXT NOT NULL UNIQUE,              -- hash of content, format and options: equal uid, equal rows
  title             TEXT,                              -- what the file (or --title) calls the run
  format            TEXT NOT NULL,                     -- the file's format: profdb formats
  fidelity          TEXT NOT NULL                      -- how much the file knows: tree (paths), edges (who calls whom),
                    CHECK (fidelity IN ('tree', 'edges', 'flat')), -- flat (totals only)
  source_name       TEXT NOT NULL,                     -- name of the file, - for standard input
  source_sha256     TEXT NOT NULL,                     -- SHA-256 of the file as it was stored (sha256sum)
  source_bytes      INTEGER NOT NULL,                  -- size of the file as it was stored, in bytes
  tool_version      TEXT,                              -- version of the profiler, as the file says it
  command           TEXT,                              -- command that made the file or was profiled
  recorded_at       TEXT,                              -- when it was recorded, as the file says it
  imported_at       TEXT NOT NULL,                     -- when it was imported, UTC, ISO 8601
  timer_bias        REAL,                              -- cost of reading the profiler's timer once, in ns; NULL unknown
  bias_applied      REAL,                              -- ns per tick already subtracted; 0 = raw times, NULL unknown
  default_metric_id INTEGER REFERENCES metrics,        -- the metric of the figures in nodes
  first_node        INTEGER,                           -- first node of the run; NULL if it has none
  last_node         INTEGER,                           -- last node of the run; NULL if it has none
  profdb_version    TEXT NOT NULL                      -- the program that imported it
) STRICT;

CREATE TABLE run_tags (
  -- What the user says of a run: profdb import --tag key=value.
  run_id INTEGER NOT NULL REFERENCES runs, -- the run
  key    TEXT NOT NULL,                    -- name: commit, host, branch
  value  TEXT NOT NULL,                    -- value
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_properties (
  -- What the file says of a run and no column of runs holds.
  run_id INTEGER NOT NULL REFERENCES runs, -- the run
  key    TEXT NOT NULL,                    -- name as in the file
  value  TEXT NOT NULL,                    -- text as in the file
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE metrics (
  -- What was measured in a run: one row per run and measured quantity.
  metric_id INTEGER PRIMARY KEY,              -- referred to by all figures
  run_id    INTEGER NOT NULL REFERENCES runs, -- the run
  name      TEXT NOT NULL,                    -- time, ticks, samples, alloc
  unit      TEXT NOT NULL                     -- ns, bytes or count
            CHECK (unit IN ('ns', 'bytes', 'count')),
  position  INTEGER NOT NULL,                 -- order in the file, from 1
  total     REAL NOT NULL,                    -- the whole run, in the unit: the denominator of percentages
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

CREATE TABLE functions (
  -- The dictionary of functions. The same function in two runs is one row, so that runs can be compared.
  function_id INTEGER PRIMARY KEY,           -- referred to by nodes, function_info, line_info and edges
  kind        TEXT NOT NULL                  -- function; pseudo (garbage collector, idle, unknown frames); containers,
              CHECK (kind IN ('function', 'pseudo', -- which hold nodes and are listed nowhere:
                              'root', 'process', 'thread', 'part')), -- root, process, thread, part
  name        TEXT NOT NULL,                 -- name as the file gives it
  module      TEXT NOT NULL DEFAULT '',      -- module, package, program or library; '' if unknown
  file        TEXT NOT NULL DEFAULT '',      -- source file; '' if unknown
  first_line  INTEGER NOT NULL DEFAULT 0,    -- line where its definition starts; 0 if unknown
  first_col   INTEGER NOT NULL DEFAULT 0,    -- column where its definition starts; 0 if unknown
  raw_name    TEXT,                          -- name before it was made readable; NULL if it never was
  -- The name comes first because it is what people look for.
  UNIQUE (name, module, file, kind, first_line, first_col)
) STRICT;

CREATE TABLE nodes (
  -- The call trees of all runs, numbered in pre-order: the nodes below n are node_id > n.node_id AND node_id <= n.last_id.
  -- A node is a function (line IS NULL) or one line of the function node above it, reached by one chain of callers.
  -- Function nodes hold everything, line nodes break it down: never add the two. Ask by run through the view tree.
  node_id     INTEGER PRIMARY KEY, -- number in pre-order; the range runs.first_node..runs.last_node is one run
  up          INTEGER,             -- distance to the parent; NULL at a root
  size        INTEGER NOT NULL,    -- how many nodes are below
  outer_up    INTEGER,             -- distance to the nearest enclosing node of the same function (line nodes: of the
                                   -- same line); NULL if outermost
  depth       INTEGER NOT NULL,    -- nodes above this one
  function_id INTEGER NOT NULL,    -- the function
  file        TEXT,                -- file of the line where it is not the function's own; else NULL
  line        INTEGER,             -- line; NULL in function nodes
  col         INTEGER,             -- column or clause; NULL if unknown
  calls       INTEGER,             -- how often called (lines: executed) here; NULL if unknown
  exclusive   REAL NOT NULL,       -- cost of the node itself, default metric, in its unit (ns, bytes, count)
  cumulative  REAL,                -- cost with everything called, same unit; NULL for lines whose calls are unknown
  parent_id   INTEGER GENERATED ALWAYS AS (node_id - up) VIRTUAL,       -- the node above; NULL at a root
  last_id     INTEGER GENERATED ALWAYS AS (node_id + size) VIRTUAL,     -- the last node below, itself if none
  outer_id    INTEGER GENERATED ALWAYS AS (node_id - outer_up) VIRTUAL  -- the enclosing node of the same function;
                                                                        -- recursion is counted once where it is NULL
) STRICT;

CREATE TABLE node_costs (
  -- Costs of nodes in metrics other than the run's default one. No row where both are 0.
  metric_id  INTEGER NOT NULL, -- the metric
  node_id    INTEGER NOT NULL, -- the node
  exclusive  REAL NOT NULL,    -- cost of the node itself, in the metric's unit
  cumulative REAL,             -- cost with everything called, same unit; NULL if unknown
  PRIMARY KEY (metric_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE function_nodes (
  -- Where the nodes of a function are (function nodes only).
  run_id      INTEGER NOT NULL, -- the run
  function_id INTEGER NOT NULL, -- the function
  node_id     INTEGER NOT NULL, -- one of its nodes
  PRIMARY KEY (run_id, function_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE function_info (
  -- What a run says of a function, wherever it was called: all functions in the default metric, in other metrics those
  -- that cost anything.
  metric_id   INTEGER NOT NULL REFERENCES metrics,   -- the metric, and with it the run
  function_id INTEGER NOT NULL REFERENCES functions, -- the function
  calls       INTEGER,                               -- how often called; NULL if unknown
  primitive   INTEGER,                               -- calls that were not made from within itself; NULL if unknown
  exclusive   REAL,                                  -- cost of the function itself, in the metric's unit; NULL if unknown
  cumulative  REAL,                                  -- cost with what it called, recursion counted once, same unit
  seen        REAL,                                  -- cost with what it called, every level counted, same unit
  recorded    INTEGER NOT NULL,                      -- 1 if the file itself gave any of these figures, else 0
  PRIMARY KEY (metric_id, function_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE line_info (
  -- What a run says of a line of a function.
  metric_id   INTEGER NOT NULL REFERENCES metrics,   -- the metric, and with it the run
  function_id INTEGER NOT NULL REFERENCES functions, -- the function
  file        TEXT NOT NULL,                         -- file of the line where it is not the function's own, else ''
  line        INTEGER NOT NULL,                      -- the line
  col         INTEGER NOT NULL,                      -- column or clause; 0 if unknown
  calls       INTEGER,                               -- how often executed; NULL if unknown
  exclusive   REAL,                                  -- cost of the line itself, in the metric's unit; NULL if unknown
  cumulative  REAL,                                  -- cost with what it called, recursion counted once, same unit
  recorded    INTEGER NOT NULL,                      -- 1 if the file itself gave any of these figures, else 0
  PRIMARY KEY (metric_id, function_id, file, line, col)
) STRICT, WITHOUT ROWID;

CREATE TABLE edges (
  -- Who called whom over the whole run, by line of the caller. Recursion makes one cumulative figure impossible, so
  -- there are three; where nothing recurs they are equal.
  metric_id   INTEGER NOT NULL REFERENCES metrics,   -- the metric, and with it the run
  callee_id   INTEGER NOT NULL REFERENCES functions, -- who was called
  caller_id   INTEGER NOT NULL,                      -- who called; 0 = the root
  caller_line INTEGER NOT NULL,                      -- from which line; -1 if unknown (0 is a line)
  caller_col  INTEGER NOT NULL,                      -- from which column or clause; 0 if unknown
  kind        TEXT NOT NULL                          -- call, or back: known to exist, folded by the profiler into a node
              CHECK (kind IN ('call', 'back')),      -- further up, without cost of its own
  calls       INTEGER,                               -- how often; NULL if unknown
  exclusive   REAL,                                  -- the callee's own cost when called here, in the metric's unit
  cumulative  REAL,                                  -- cost with what the callee called, the pair of functions counted
                                                     -- once per path, credited to the outer line: what the caller spent
  outermost   REAL,                                  -- the part where the callee is outermost: adds up over all callers
                                                     -- to the callee's cumulative cost
  seen        REAL,                                  -- every level of a recursion counted
  PRIMARY KEY (metric_id, callee_id, caller_id, caller_line, caller_col, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_by_caller ON edges (metric_id, caller_id);

CREATE TABLE notes (
  -- What there was to remark when a run was imported.
  note_id  INTEGER PRIMARY KEY,              -- order of the remarks
  run_id   INTEGER NOT NULL REFERENCES runs, -- the run
  severity TEXT NOT NULL                     -- warning (a figure may be other than expected) or info
           CHECK (severity IN ('info', 'warning')),
  byte     INTEGER,                          -- place in the file (after decompression): bytes before it; NULL if none
  line     INTEGER,                          -- place in the file: line, from 1; NULL if none
  message  TEXT NOT NULL                     -- what is to be said
) STRICT;

CREATE INDEX notes_by_run ON notes (run_id);

CREATE TRIGGER runs_delete AFTER DELETE ON runs BEGIN
  -- Takes with a run what belongs to it, also when foreign keys are not enforced, and then the functions that no run
  -- mentions any more.
  DELETE FROM nodes WHERE node_id BETWEEN OLD.first_node AND OLD.last_node;
  DELETE FROM node_costs WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM function_nodes WHERE run_id = OLD.run_id;
  DELETE FROM edges WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM line_info WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM functions
  WHERE function_id IN (SELECT function_id FROM function_info WHERE metric_id = OLD.default_metric_id)
    AND NOT EXISTS (
      SELECT 1
      FROM runs AS other
      CROSS JOIN function_info AS info ON info.metric_id = other.default_metric_id
                                      AND info.function_id = functions.function_id
      WHERE other.run_id <> OLD.run_id
    );
  DELETE FROM function_info WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM notes WHERE run_id = OLD.run_id;
  DELETE FROM run_tags WHERE run_id = OLD.run_id;
  DELETE FROM run_properties WHERE run_id = OLD.run_id;
  DELETE FROM metrics WHERE run_id = OLD.run_id;
END;
