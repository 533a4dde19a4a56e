CREATE TABLE runs (
  -- The runs: one row per imported profile. A run's nodes are the rows first_node..last_node of table nodes. Deleting a
  -- row here deletes everything that belongs to the run (trigger runs_delete).
  run_id            INTEGER PRIMARY KEY AUTOINCREMENT, -- number of the run; not used again after a delete
  run_uid           TEXT NOT NULL UNIQUE,              -- hash of content, format and importer: equal uid, equal rows
  title             TEXT,                              -- what --title or the file calls the run; NULL if neither does
  format            TEXT NOT NULL,                     -- format of the file; `profdb formats` lists them
  fidelity          TEXT NOT NULL                      -- how much the file knows: tree (paths), edges (who calls whom),
                    CHECK (fidelity IN ('tree', 'edges', 'flat')), -- flat (totals only)
  source_name       TEXT NOT NULL,                     -- name of the file, - for standard input
  source_sha256     TEXT NOT NULL,                     -- SHA-256 of the file as it was stored (sha256sum)
  source_bytes      INTEGER NOT NULL,                  -- size of the file as it was stored, in bytes
  tool_version      TEXT,                              -- version of the profiler, as the file says it; NULL unknown
  command           TEXT,                              -- command that made the file or was profiled; NULL unknown
  recorded_at       TEXT,                              -- when it was recorded, as the file says it; NULL unknown
  imported_at       TEXT NOT NULL,                     -- when it was imported: UTC, ISO 8601 (2026-01-31T09:30:00Z)
  timer_bias        REAL,                              -- time to read the profiler's timer once (a tick), in ns; NULL
                                                       -- unknown
  bias_applied      REAL,                              -- already subtracted from times, in ns per tick; 0 none, NULL
                                                       -- unknown
  default_metric_id INTEGER REFERENCES metrics,        -- metric of the costs in nodes, and of reports unless asked
                                                       -- otherwise
  first_node        INTEGER,                           -- nodes.node_id of the run's first node; NULL if it has none
  last_node         INTEGER,                           -- nodes.node_id of the run's last node; NULL if it has none
  profdb_version    TEXT NOT NULL                      -- version of profdb that imported it
) STRICT;

CREATE TABLE run_tags (
  -- What the user says of a run: `profdb import --tag KEY=VALUE FILE`.
  run_id INTEGER NOT NULL REFERENCES runs, -- the run
  key    TEXT NOT NULL,                    -- name of the tag: commit, host, branch
  value  TEXT NOT NULL,                    -- its value
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_properties (
  -- What the file says of a run and no column of runs holds: settings, versions, totals of the file's own.
  run_id INTEGER NOT NULL REFERENCES runs, -- the run
  key    TEXT NOT NULL,                    -- name as in the file
  value  TEXT NOT NULL,                    -- text as in the file
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE metrics (
  -- What was measured in a run: one row per run and measured quantity. Every cost in the other tables is of one metric
  -- and in its unit.
  metric_id INTEGER PRIMARY KEY,              -- number of the metric; belongs to one run only
  run_id    INTEGER NOT NULL REFERENCES runs, -- the run
  name      TEXT NOT NULL,                    -- time, ticks (readings of the timer), samples, alloc
  unit      TEXT NOT NULL                     -- unit of its costs: ns (nanoseconds), bytes or count
            CHECK (unit IN ('ns', 'bytes', 'count')),
  position  INTEGER NOT NULL,                 -- order in the file, from 1
  total     REAL NOT NULL,                    -- cost of the whole run, in unit: 100 % of percentages
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

CREATE TABLE functions (
  -- The dictionary of functions, shared by all runs: the same function in two runs is one row, so that runs can be
  -- compared. What a run measured of it is in function_info.
  function_id INTEGER PRIMARY KEY,           -- number of the function in all tables
  kind        TEXT NOT NULL                  -- function; pseudo: no code of the program's (garbage collector, idle,
              CHECK (kind IN ('function', 'pseudo', -- unknown frames); or a container, which only holds
                              'root', 'process', 'thread', 'part')), -- nodes: root, process, thread, part
  name        TEXT NOT NULL,                 -- name as the file gives it
  module      TEXT NOT NULL DEFAULT '',      -- module, package, program or library; '' if unknown
  file        TEXT NOT NULL DEFAULT '',      -- source file; '' if unknown
  first_line  INTEGER NOT NULL DEFAULT 0,    -- line where its definition starts; 0 if unknown
  first_col   INTEGER NOT NULL DEFAULT 0,    -- column where its definition starts; 0 if unknown
  raw_name    TEXT,                          -- name before it was made readable; NULL if it never was
  -- One row per function. The name comes first so that this key is also the index for names.
  UNIQUE (name, module, file, kind, first_line, first_col)
) STRICT;

CREATE TABLE nodes (
  -- The call trees of all runs. A node is a function reached by one chain of callers (line IS NULL), or one line of the
  -- function node above it. Function nodes hold everything, line nodes break it down: never add the two. Nodes are
  -- numbered in pre-order (parent first), so that the nodes below n are node_id > n.node_id AND node_id <= n.last_id.
  -- Ask by run, through the view tree.
  node_id     INTEGER PRIMARY KEY, -- number in pre-order; runs.first_node..runs.last_node are one run
  up          INTEGER,             -- node_id less that of the parent; NULL at a root
  size        INTEGER NOT NULL,    -- how many nodes are below
  outer_up    INTEGER,             -- node_id less that of the nearest enclosing node of the same function (line nodes:
                                   -- of the same line); NULL if there is none
  depth       INTEGER NOT NULL,    -- how many nodes are above: 0 at a root
  function_id INTEGER NOT NULL,    -- the function that was running
  file        TEXT,                -- file of the line where it is not the function's own; else NULL
  line        INTEGER,             -- line number; NULL in function nodes
  col         INTEGER,             -- column or clause of the line; NULL if unknown
  calls       INTEGER,             -- how often called (lines: executed) here; NULL if unknown
  exclusive   REAL NOT NULL,       -- cost of the node itself in the run's default metric, in the metric's unit
  cumulative  REAL,                -- cost with everything called, in the metric's unit; NULL for lines if unknown
  parent_id   INTEGER GENERATED ALWAYS AS (node_id - up) VIRTUAL,       -- the node above; NULL at a root
  last_id     INTEGER GENERATED ALWAYS AS (node_id + size) VIRTUAL,     -- the last node below, itself if none
  outer_id    INTEGER GENERATED ALWAYS AS (node_id - outer_up) VIRTUAL  -- the enclosing node of the same function;
                                                                        -- add cumulative only where it is NULL,
                                                                        -- else recursion counts twice
) STRICT;

CREATE TABLE node_costs (
  -- Costs of nodes in the metrics that are not the run's default one. A node without a row here cost 0.
  metric_id  INTEGER NOT NULL, -- the metric
  node_id    INTEGER NOT NULL, -- the node
  exclusive  REAL NOT NULL,    -- cost of the node itself, in the metric's unit
  cumulative REAL,             -- cost with everything called, in the metric's unit; NULL if unknown
  PRIMARY KEY (metric_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE function_nodes (
  -- Where the function nodes of a function are: the index from functions to nodes, one part per run.
  run_id      INTEGER NOT NULL, -- the run
  function_id INTEGER NOT NULL, -- the function
  node_id     INTEGER NOT NULL, -- one of its nodes
  PRIMARY KEY (run_id, function_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE function_info (
  -- What a run says of a function, added up over all places where it was called. In the run's default metric every
  -- function has a row, in other metrics those that cost anything.
  metric_id   INTEGER NOT NULL REFERENCES metrics,   -- the metric, which belongs to one run
  function_id INTEGER NOT NULL REFERENCES functions, -- the function
  calls       INTEGER,                               -- how often called; NULL if unknown
  primitive   INTEGER,                               -- calls not made while it was already open; NULL if unknown
  exclusive   REAL,                                  -- cost of the function itself, in the metric's unit; NULL if
                                                     -- unknown
  cumulative  REAL,                                  -- cost with what it called, recursion counted once, in the
                                                     -- metric's unit; NULL if unknown
  seen        REAL,                                  -- the same with every level of recursion counted, in the metric's
                                                     -- unit; NULL if unknown
  recorded    INTEGER NOT NULL,                      -- 1 if the file itself gave any of these figures, else 0
  PRIMARY KEY (metric_id, function_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE line_info (
  -- What a run says of a line of a function, added up over all places where it was executed. Part of the function's own
  -- figures in function_info: never add the two.
  metric_id   INTEGER NOT NULL REFERENCES metrics,   -- the metric, which belongs to one run
  function_id INTEGER NOT NULL REFERENCES functions, -- the function
  file        TEXT NOT NULL,                         -- file of the line where it is not the function's own, else ''
  line        INTEGER NOT NULL,                      -- the line
  col         INTEGER NOT NULL,                      -- column or clause; 0 if unknown
  calls       INTEGER,                               -- how often executed; NULL if unknown
  exclusive   REAL,                                  -- cost of the line itself, in the metric's unit; NULL if unknown
  cumulative  REAL,                                  -- cost with what it called, recursion counted once, in the
                                                     -- metric's unit; NULL if unknown
  recorded    INTEGER NOT NULL,                      -- 1 if the file itself gave any of these figures, else 0
  PRIMARY KEY (metric_id, function_id, file, line, col)
) STRICT, WITHOUT ROWID;

CREATE TABLE edges (
  -- Who called whom (caller -> callee), added up over the whole run, by line of the caller. With recursion no single
  -- figure for cost with everything called can serve all questions, so there are three: cumulative, outermost and seen.
  -- Where nothing recurs they are equal.
  metric_id   INTEGER NOT NULL REFERENCES metrics,   -- the metric, which belongs to one run
  callee_id   INTEGER NOT NULL REFERENCES functions, -- who was called
  caller_id   INTEGER NOT NULL,                      -- who called: a function_id, or 0: nobody, it was at the root
  caller_line INTEGER NOT NULL,                      -- from which line; -1 if unknown (0 is a line)
  caller_col  INTEGER NOT NULL,                      -- from which column or clause of that line; 0 if unknown
  kind        TEXT NOT NULL                          -- call, or back: a call known to exist, without cost of its own
              CHECK (kind IN ('call', 'back')),      -- because the profiler has folded it into a node further up
  calls       INTEGER,                               -- how often; NULL if unknown
  exclusive   REAL,                                  -- the callee's own cost when called here, in the metric's unit;
                                                     -- NULL if unknown
  cumulative  REAL,                                  -- what the caller spent in the callee, in the metric's unit: on
                                                     -- each path the pair counts once, at the outer call; NULL if
                                                     -- unknown
  outermost   REAL,                                  -- cost where the callee is not open already, in the metric's unit:
                                                     -- adds up over all callers to the callee's cumulative; NULL if
                                                     -- unknown
  seen        REAL,                                  -- cost with every level of recursion counted, in the metric's
                                                     -- unit; NULL if unknown
  PRIMARY KEY (metric_id, callee_id, caller_id, caller_line, caller_col, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_by_caller ON edges (
  -- Finds whom a function called; the key of the table finds by whom it was called.
  metric_id, caller_id
);

CREATE TABLE notes (
  -- What there was to remark when a run was imported: records left out, figures that do not add up.
  note_id  INTEGER PRIMARY KEY,              -- number of the note, in the order of the remarks
  run_id   INTEGER NOT NULL REFERENCES runs, -- the run
  severity TEXT NOT NULL                     -- warning (a figure may be other than expected) or info
           CHECK (severity IN ('info', 'warning')),
  byte     INTEGER,                          -- place: bytes before it in the decompressed file; NULL if none
  line     INTEGER,                          -- place: line of the file, from 1; NULL if none
  message  TEXT NOT NULL                     -- the remark
) STRICT;

CREATE INDEX notes_by_run ON notes (
  -- Finds the notes of a run.
  run_id
);

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

ANALYZE sqlite_schema;

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- What the planner is to expect: a file with ten large runs of several programs. Without figures it takes
  -- a function's name for as good a filter as a run's number, and reads all edges to find the callers of one function.
  -- The first figure is the number of rows, the others say how many rows share one, two, three columns of the index.
  ('runs', 'sqlite_autoindex_runs_1', '10 1'),
  ('metrics', 'sqlite_autoindex_metrics_1', '20 2 1'),
  ('metrics', 'sqlite_autoindex_metrics_2', '20 2 1'),
  ('functions', 'sqlite_autoindex_functions_1', '500000 2 2 2 1 1 1'),
  ('nodes', NULL, '10000000'),
  ('node_costs', 'node_costs', '10000000 1000000 1'),
  ('function_nodes', 'function_nodes', '3000000 300000 30 1'),
  ('function_info', 'function_info', '200000 10000 1'),
  ('line_info', 'line_info', '1000000 50000 6 6 1 1'),
  ('edges', 'edges', '2000000 100000 10 2 1 1 1'),
  ('edges', 'edges_by_caller', '2000000 100000 10'),
  ('notes', 'notes_by_run', '100 10');

ANALYZE sqlite_schema;
