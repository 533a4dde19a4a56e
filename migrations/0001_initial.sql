CREATE TABLE runs (
  -- The runs: one row per imported profile. The nodes of a run are the rows first_node..last_node of table nodes. Deleting
  -- a row deletes everything that belongs to the run (trigger runs_delete).
  run_id            INTEGER PRIMARY KEY AUTOINCREMENT,      -- number of the run; not used again after a delete
  run_uid           TEXT NOT NULL UNIQUE,                   -- hash of the content, the format, the importer, and the
                                                            -- title, tags and noise given to the import: equal uids
                                                            -- mean equal rows
  title             TEXT,                                   -- title from --title or from the file; NULL if there is
                                                            -- none
  format            TEXT NOT NULL,                          -- format of the file; `profdb formats` lists them
  fidelity          TEXT NOT NULL                           -- detail of the file: tree (paths), edges (callers and
                    CHECK (fidelity IN ('tree', 'edges', 'flat')), -- callees), flat (totals only)
  source_name       TEXT NOT NULL,                          -- name of the file, - for standard input
  source_sha256     TEXT NOT NULL,                          -- SHA-256 of the file as stored on disk (sha256sum)
  source_bytes      INTEGER NOT NULL,                       -- size of the file as stored on disk, in bytes
  tool_version      TEXT,                                   -- version of the profiler, as stated by the file; NULL if
                                                            -- unknown
  command           TEXT,                                   -- command that made the file or was profiled; NULL if
                                                            -- unknown
  recorded_at       TEXT,                                   -- time of the recording, as stated by the file; NULL if
                                                            -- unknown
  imported_at       TEXT NOT NULL,                          -- time of the import: UTC, ISO 8601
                                                            -- (2026-01-31T09:30:00Z)
  timer_bias        REAL,                                   -- time to read the profiler's timer once (a tick), in ns;
                                                            -- NULL if unknown
  bias_applied      REAL,                                   -- time already subtracted per tick, in ns; 0 if none, NULL
                                                            -- if unknown
  default_metric_id INTEGER REFERENCES metrics (metric_id), -- metric of the costs in nodes, and the default metric of
                                                            -- reports
  first_node        INTEGER,                                -- nodes.node_id of the run's first node; NULL if it has
                                                            -- no nodes
  last_node         INTEGER,                                -- nodes.node_id of the run's last node; NULL if it has no
                                                            -- nodes
  profdb_version    TEXT NOT NULL,                          -- version of profdb that imported the run
  functions         INTEGER NOT NULL DEFAULT 0,             -- number of its functions without containers: the rows of
                                                            -- function_info in its default metric
  fingerprint       BLOB,                                   -- hash of its figures: metrics, and calls and exclusive of
                                                            -- each identity. Runs with equal fingerprints are copies
                                                            -- of one recording
  recorded_utc      TEXT                                    -- recorded_at in a form that sorts by time: UTC, nine
                                                            -- digits after the point (2026-01-31T09:30:00.000000000Z). A
                                                            -- time without a numeric zone is read as UTC; NULL if
                                                            -- recorded_at is unknown or in an unknown form
) STRICT;

CREATE TABLE run_tags (
  -- Tags that the user gives to a run: `profdb import --tag KEY=VALUE FILE`.
  run_id INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  key    TEXT NOT NULL,                             -- name of the tag, such as commit, host or branch
  value  TEXT NOT NULL,                             -- its value
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_properties (
  -- Properties of a run that the file states and that have no column in runs: settings, versions, totals.
  run_id INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  key    TEXT NOT NULL,                             -- name as in the file
  value  TEXT NOT NULL,                             -- text as in the file
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE functions (
  -- The dictionary of functions, shared by all runs: a function that occurs in two runs has one row, so that runs can be
  -- compared. The measurements of a run are in function_info.
  function_id INTEGER PRIMARY KEY,           -- number of the function in all tables
  kind        TEXT NOT NULL                  -- function; pseudo: not code of the program (garbage collector, idle,
              CHECK (kind IN ('function', 'pseudo', -- unknown frames); or a container, which only holds
                              'root', 'process', 'thread', 'part')), -- nodes: root, process, thread, part
  name        TEXT NOT NULL,                 -- name as the file gives it
  module      TEXT NOT NULL DEFAULT '',      -- module, package, program or library; '' if unknown
  file        TEXT NOT NULL DEFAULT '',      -- source file; '' if unknown
  first_line  INTEGER NOT NULL DEFAULT 0,    -- line where its definition starts; 0 if unknown
  first_col   INTEGER NOT NULL DEFAULT 0,    -- column where its definition starts; 0 if unknown
  raw_name    TEXT,                          -- name before it was demangled; NULL if it was not mangled
  identity_id INTEGER                        -- its identity, which does not depend on the build or the process
              REFERENCES identities (identity_id),
  -- One row per function. The name comes first so that this key is also the index for names.
  UNIQUE (name, module, file, kind, first_line, first_col)
) STRICT;

CREATE TABLE function_nodes (
  -- The index from functions to their function nodes, one part per run.
  run_id      INTEGER NOT NULL, -- the run
  function_id INTEGER NOT NULL, -- the function
  node_id     INTEGER NOT NULL, -- one of its nodes
  PRIMARY KEY (run_id, function_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE function_info (
  -- The figures of a function in a run, added up over all call paths. In the run's default metric every function has a
  -- row, in other metrics the functions with a cost.
  metric_id   INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  function_id INTEGER NOT NULL REFERENCES functions (function_id), -- the function
  calls       INTEGER,                                             -- number of calls; NULL if unknown
  primitive   INTEGER,                                             -- number of calls without those that recursion made;
                                                                   -- NULL if unknown
  exclusive   REAL,                                                -- cost of the function itself, in the metric's unit;
                                                                   -- NULL if unknown
  cumulative  REAL,                                                -- inclusive cost, recursion counted once, in the
                                                                   -- metric's unit; NULL if unknown
  seen        REAL,                                                -- inclusive cost, every level of recursion counted,
                                                                   -- in the metric's unit; NULL if unknown
  recorded    INTEGER NOT NULL,                                    -- 1 if the file itself states any of these figures,
                                                                   -- else 0
  PRIMARY KEY (metric_id, function_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE line_info (
  -- The figures of a line of a function in a run, added up over all call paths. They are part of the function's figures
  -- in function_info: never add the two.
  metric_id   INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  function_id INTEGER NOT NULL REFERENCES functions (function_id), -- the function
  file        TEXT NOT NULL,                                       -- file of the line if it differs from the
                                                                   -- function's file, else ''
  line        INTEGER NOT NULL,                                    -- the line
  col         INTEGER NOT NULL,                                    -- column or clause; 0 if unknown
  calls       INTEGER,                                             -- number of executions; NULL if unknown
  exclusive   REAL,                                                -- cost of the line itself, in the metric's unit;
                                                                   -- NULL if unknown
  cumulative  REAL,                                                -- inclusive cost, recursion counted once, in the
                                                                   -- metric's unit; NULL if unknown
  recorded    INTEGER NOT NULL,                                    -- 1 if the file itself states any of these figures,
                                                                   -- else 0
  PRIMARY KEY (metric_id, function_id, file, line, col)
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
  -- Notes of the importer on a run: records left out, figures that do not add up.
  note_id  INTEGER PRIMARY KEY,                       -- number of the note, in the order of the import
  run_id   INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  severity TEXT NOT NULL                              -- warning (a figure may differ from the expected one) or info
           CHECK (severity IN ('info', 'warning')),
  byte     INTEGER,                                   -- offset in the decompressed file, in bytes; NULL if none
  line     INTEGER,                                   -- line of the file, from 1; NULL if none
  message  TEXT NOT NULL                              -- text of the note
) STRICT;

CREATE INDEX notes_by_run ON notes (
  -- Finds the notes of a run.
  run_id
);

CREATE TRIGGER runs_delete AFTER DELETE ON runs BEGIN
  -- Deletes the rows that belong to the run, also when foreign keys are not enforced, and then the functions that occur
  -- in no other run.
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

CREATE TABLE sources (
  -- Source texts, as they were when a run was imported with `profdb import --source DIR`. A text is a file, or a function
  -- of a script. Equal texts have one row, shared by all runs and functions.
  source_id  INTEGER PRIMARY KEY, -- number of the text
  sha256     TEXT NOT NULL,       -- SHA-256 of the whole text: of the file (sha256sum); of a function in a script: of its
                                  -- lines, each followed by a line feed
  first_line INTEGER NOT NULL     -- number of its first line: 1 in files, 0 (the header) in functions
             CHECK (first_line IN (0, 1)),
  UNIQUE (sha256, first_line)
) STRICT;

CREATE TABLE source_texts (
  -- The lines of source texts. `profdb import --source DIR` stores the lines of functions that have figures in the run: in a
  -- file from the first known line of the function, or from its definition if that is known, up to the next known line of
  -- another function; in a script the whole function. With --source-lines figures, only lines with figures are stored.
  source_id INTEGER NOT NULL REFERENCES sources (source_id), -- the text
  line      INTEGER NOT NULL,                                -- number of the line, as the profiler counts
  text      TEXT NOT NULL,                                   -- the line, without leading and trailing blanks
  PRIMARY KEY (source_id, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_sources (
  -- The source text of a function when a run was imported.
  run_id      INTEGER NOT NULL REFERENCES runs (run_id),           -- the run
  function_id INTEGER NOT NULL REFERENCES functions (function_id), -- the function
  file        TEXT NOT NULL,                                       -- file of the lines, as the run names it; '' if
                                                                   -- unknown
  source_id   INTEGER NOT NULL REFERENCES sources (source_id),     -- the text
  PRIMARY KEY (run_id, function_id, file)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_sources_by_source ON run_sources (
  -- Finds the runs that have a text.
  source_id
);

CREATE TRIGGER runs_delete_sources AFTER DELETE ON runs BEGIN
  -- Deletes the source texts of the run that no other run has.
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

CREATE TABLE nodes (
  -- The call trees of all runs. A node is a function reached by one chain of callers (line IS NULL), or one line of the
  -- function node above it. Function nodes hold everything, line nodes break it down: never add the two. Nodes are
  -- numbered in pre-order (parent first), so that the descendants of n are node_id > n.node_id AND node_id <= n.last_id.
  -- Query by run, through the view tree. Values that most rows would repeat are generated: write the columns called _other.
  node_id          INTEGER PRIMARY KEY, -- number in pre-order; runs.first_node..runs.last_node are one run
  up               INTEGER,             -- node_id less that of the parent; NULL at a root
  size             INTEGER NOT NULL,    -- number of descendants
  depth            INTEGER NOT NULL,    -- number of ancestors: 0 at a root
  function_id      INTEGER NOT NULL,    -- the function that was running
  calls            INTEGER,             -- number of calls (lines: executions) on this path; NULL if unknown
  exclusive        REAL NOT NULL,       -- cost of the node itself in the run's default metric, in the metric's unit
  line             INTEGER,             -- line number; NULL in function nodes
  cumulative_other REAL,                -- cumulative if it differs from exclusive, in the metric's unit: NULL if they
                                        -- are equal, infinity if unknown
  outer_up         INTEGER,             -- node_id less that of the nearest ancestor with the same function (line nodes:
                                        -- with the same line); NULL if there is none
  col              INTEGER,             -- column or clause of the line; NULL if unknown
  file             TEXT,                -- file of the line if it differs from the function's file; else NULL
  cumulative       ANY GENERATED ALWAYS -- inclusive cost, in the metric's unit; NULL for lines if unknown
                   AS (NULLIF(COALESCE(cumulative_other, exclusive), 9e999)) VIRTUAL,
  parent_id        INTEGER GENERATED ALWAYS AS (node_id - up) VIRTUAL,      -- the parent; NULL at a root
  last_id          INTEGER GENERATED ALWAYS AS (node_id + size) VIRTUAL,    -- the last descendant, or the node itself
  outer_id         INTEGER GENERATED ALWAYS AS (node_id - outer_up) VIRTUAL -- the nearest ancestor with the same
                                                                            -- function; add cumulative only where it
                                                                            -- is NULL, else recursion counts twice
) STRICT;

CREATE TABLE node_costs (
  -- Costs of nodes in the metrics other than the run's default metric. A node without a row has cost 0.
  metric_id        INTEGER NOT NULL, -- the metric
  node_id          INTEGER NOT NULL, -- the node
  exclusive        REAL NOT NULL,    -- cost of the node itself, in the metric's unit
  cumulative_other REAL,             -- cumulative if it differs from exclusive, in the metric's unit: NULL if they are
                                     -- equal, infinity if unknown
  cumulative       ANY GENERATED ALWAYS -- inclusive cost, in the metric's unit; NULL if unknown
                   AS (NULLIF(COALESCE(cumulative_other, exclusive), 9e999)) VIRTUAL,
  PRIMARY KEY (metric_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE label_sets (
  -- Labels of samples: data of a profiler about samples besides their stacks (request, worker, size of an object).
  -- Samples with equal labels share a set.
  run_id INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  set_id INTEGER NOT NULL,                          -- number of the set in its run, from 1
  key    TEXT NOT NULL,                             -- name of the label; can occur more than once in a set
  value  ANY NOT NULL,                              -- value of the label: text, or a whole number
  unit   TEXT NOT NULL,                             -- unit of a number; '' for text, and if unknown
  PRIMARY KEY (run_id, set_id, key, value, unit)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_labels (
  -- Exclusive costs of nodes in samples with equal labels: part of exclusive in nodes and node_costs. The cost of samples
  -- without labels has no row.
  metric_id INTEGER NOT NULL REFERENCES metrics (metric_id), -- the metric, which belongs to one run
  node_id   INTEGER NOT NULL,                                -- the node
  set_id    INTEGER NOT NULL,                                -- the labels, a set of the run
  exclusive REAL NOT NULL,                                   -- cost of the node itself, in the metric's unit
  PRIMARY KEY (metric_id, node_id, set_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER runs_delete_labels BEFORE DELETE ON runs BEGIN
  -- Deletes the labels of the run's samples, before trigger runs_delete deletes the metrics that lead to them.
  DELETE FROM node_labels WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM label_sets WHERE run_id = OLD.run_id;
END;

CREATE TABLE metrics (
  -- The metrics: one row per run and measured quantity. Every cost in the other tables belongs to one metric and is in
  -- its unit.
  metric_id      INTEGER PRIMARY KEY,                       -- number of the metric; belongs to one run only
  run_id         INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  name           TEXT NOT NULL,                             -- time, ticks, samples, alloc, or the name in the file
  unit           TEXT NOT NULL                              -- unit of its costs: ns (nanoseconds), bytes or count
                 CHECK (unit IN ('ns', 'bytes', 'count')),
  position       INTEGER NOT NULL,                          -- order in the file, from 1
  total          REAL NOT NULL,                             -- cost of the whole run, in unit: 100 % of percentages
  total_source   TEXT NOT NULL                              -- origin of total: counted (sum of the roots; without
                                                            -- nodes, sum of the exclusive costs of functions), stated
                                                            -- (by the file, which may leave out roots or contradict
                                                            -- itself)
                 CHECK (total_source IN ('counted', 'stated')),
  timer_readings INTEGER NOT NULL                           -- 1 if it counts the readings of the profiler's timer, the
                 CHECK (timer_readings IN (0, 1)),          -- ticks of timer_bias and bias_applied in runs; else 0
  noise          TEXT NOT NULL DEFAULT 'unknown'            -- variation of its costs between recordings of one program:
                 CHECK (noise IN ('exact', 'timed', 'sampled', 'unknown')), -- none (exact), by the load of the machine
                                                            -- (timed), by chance (sampled)
  observations   INTEGER                                    -- the metric of the run that counts the samples of its
                 REFERENCES metrics (metric_id)             -- costs; NULL if there is none
                 DEFERRABLE INITIALLY DEFERRED,
  quantum        REAL,                                      -- cost of one sample, in unit; NULL if unknown, or if
                                                            -- samples differ
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

CREATE TABLE identities (
  -- Identities of functions across builds, processes and machines: functions of several runs with one identity are
  -- compared. The rules in identity_rules make them from class, name, module and file only.
  identity_id  INTEGER PRIMARY KEY,                       -- number of the identity in this database
  class        TEXT NOT NULL                              -- code, or a container, which only holds nodes
               CHECK (class IN ('code', 'container')),
  name         TEXT NOT NULL,                             -- name without the parts that depend on a build or process
  module       TEXT NOT NULL,                             -- module, package, program or library; '' if unknown
  file         TEXT NOT NULL,                             -- source file; '' if unknown
  unnamed      INTEGER NOT NULL CHECK (unnamed IN (0, 1)), -- 1 if it is all code of the module whose name is unknown
  identity_key BLOB NOT NULL UNIQUE                       -- first 16 bytes of the SHA-256 of class, name, module and
                                                          -- file, each after its length (32 bits, little-endian): equal
                                                          -- in all databases whose rules have one digest
) STRICT;

CREATE TABLE identity_rules (
  -- The rules that make the identities, in the order in which they are tried, repeatedly until none applies.
  position    INTEGER PRIMARY KEY,                             -- position in the order
  origin      TEXT NOT NULL                                    -- built-in; or user (`profdb identify --rules FILE`)
              CHECK (origin IN ('built-in', 'user')),
  about       TEXT NOT NULL,                                   -- description of the part that the rule removes
  field       TEXT NOT NULL                                    -- field that it changes; container is the name of a
              CHECK (field IN ('name', 'module', 'file', 'container')), -- container
  files       TEXT NOT NULL,                                   -- file extensions of the functions that it applies to;
                                                               -- - for functions without a file; '' for all
  pattern     TEXT NOT NULL,                                   -- regular expression of the text to replace
  replacement TEXT NOT NULL                                    -- replacement; $1 is the first group
) STRICT;

CREATE TABLE identity_digests (
  -- The digest of the rules that made the identities: one row.
  digest_id      INTEGER PRIMARY KEY CHECK (digest_id = 1), -- 1
  digest         BLOB NOT NULL,                             -- SHA-256 of field, files, pattern and replacement of all
                                                            -- rules, each after its length (32 bits, little-endian)
  profdb_version TEXT NOT NULL                              -- version of profdb that has these built-in rules
) STRICT;

CREATE INDEX functions_by_identity ON functions (
  -- Finds the functions of an identity.
  identity_id
);

CREATE TRIGGER functions_delete AFTER DELETE ON functions BEGIN
  -- Deletes the identity of the function if no other function has it.
  DELETE FROM identities
  WHERE identity_id = OLD.identity_id
    AND NOT EXISTS (SELECT 1 FROM functions WHERE identity_id = OLD.identity_id);
END;

CREATE TABLE edges (
  -- Calls (caller -> callee), added up over the whole run, by line of the caller. With recursion no single inclusive cost
  -- answers all questions, so there are three: cumulative, outermost and seen. Without recursion they are equal.
  metric_id       INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  callee_id       INTEGER NOT NULL REFERENCES functions (function_id), -- the callee
  back            INTEGER NOT NULL                                     -- 1 for a call known to exist, without cost of
                  CHECK (back IN (0, 1)),                              -- its own because the profiler has folded it
                                                                       -- into an ancestor; else 0
  caller_id       INTEGER NOT NULL,                                    -- the caller: a function_id, or 0 if the callee
                                                                       -- was at the root
  line_file       TEXT NOT NULL,                                       -- file of the calling line if it differs from
                                                                       -- the caller's file; else ''
  caller_line     INTEGER NOT NULL,                                    -- the calling line; -1 if unknown (0 is a line)
  caller_col      INTEGER NOT NULL,                                    -- column or clause of that line; 0 if unknown
  calls           INTEGER,                                             -- number of calls; NULL if unknown
  exclusive       REAL,                                                -- exclusive cost of the callee in these calls, in
                                                                       -- the metric's unit; NULL if unknown
  cumulative      REAL,                                                -- inclusive cost of these calls, in the metric's
                                                                       -- unit: on each path the pair counts once, at
                                                                       -- the outer call; NULL if unknown
  outermost_other REAL,                                                -- outermost if it differs from cumulative, in
                                                                       -- the metric's unit: NULL if they are equal,
                                                                       -- infinity if unknown
  seen_other      REAL,                                                -- seen if it differs from cumulative, in the
                                                                       -- metric's unit: NULL if they are equal,
                                                                       -- infinity if unknown
  kind            TEXT GENERATED ALWAYS -- call, or back
                  AS (CASE back WHEN 0 THEN 'call' ELSE 'back' END) VIRTUAL,
  outermost       ANY GENERATED ALWAYS -- inclusive cost of calls that are not within another call of the callee, in the
                                       -- metric's unit: adds up over all callers to the callee's cumulative; NULL if
                                       -- unknown
                  AS (NULLIF(COALESCE(outermost_other, cumulative), 9e999)) VIRTUAL,
  seen            ANY GENERATED ALWAYS -- inclusive cost, every level of recursion counted, in the metric's unit; NULL if
                                       -- unknown
                  AS (NULLIF(COALESCE(seen_other, cumulative), 9e999)) VIRTUAL,
  PRIMARY KEY (metric_id, callee_id, back, caller_id, line_file, caller_line, caller_col)
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_by_caller ON edges (
  -- Finds the callees of a function; the key of the table finds its callers.
  metric_id, caller_id
);

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- Statistics for the planner: a file with ten large runs of several programs. Without them the planner takes the name
  -- of a function for as good a filter as the number of a run, and reads all edges to find the callers of one function.
  -- The first figure is the number of rows, the others are the numbers of rows that share one, two, three columns of the
  -- index.
  ('runs', 'sqlite_autoindex_runs_1', '10 1'),
  ('metrics', 'sqlite_autoindex_metrics_1', '20 2 1'),
  ('metrics', 'sqlite_autoindex_metrics_2', '20 2 1'),
  ('functions', 'sqlite_autoindex_functions_1', '500000 2 2 2 1 1 1'),
  ('nodes', NULL, '10000000'),
  ('node_costs', 'node_costs', '10000000 1000000 1'),
  ('function_nodes', 'function_nodes', '3000000 300000 30 1'),
  ('function_info', 'function_info', '200000 10000 1'),
  ('line_info', 'line_info', '1000000 50000 6 6 1 1'),
  ('edges', 'edges', '2000000 100000 10 10 2 2 1 1'),
  ('notes', 'notes_by_run', '100 10'),
  ('sources', 'sqlite_autoindex_sources_1', '20000 1 1'),
  ('source_texts', 'source_texts', '200000 10 1'),
  ('run_sources', 'run_sources', '50000 5000 1 1'),
  ('run_sources', 'run_sources_by_source', '50000 3'),
  ('label_sets', 'label_sets', '10000 1000 3 1 1 1'),
  ('node_labels', 'node_labels', '2000000 200000 2 1'),
  ('edges', 'edges_by_caller', '2000000 100000 10');

ANALYZE sqlite_schema;
