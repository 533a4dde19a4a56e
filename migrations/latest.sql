CREATE TABLE runs (
  -- The runs: one row per imported profile. A run's nodes are the rows first_node..last_node of table nodes. Deleting a
  -- row here deletes everything that belongs to the run (trigger runs_delete).
  run_id            INTEGER PRIMARY KEY AUTOINCREMENT,      -- number of the run; not used again after a delete
  run_uid           TEXT NOT NULL UNIQUE,                   -- hash of content, format and importer, and of the title,
                                                            -- tags and noise that the import was given: equal uid,
                                                            -- equal rows
  title             TEXT,                                   -- what --title or the file calls the run; NULL if neither
                                                            -- does
  format            TEXT NOT NULL,                          -- format of the file; `profdb formats` lists them
  fidelity          TEXT NOT NULL                           -- how much the file knows: tree (paths), edges (who
                    CHECK (fidelity IN ('tree', 'edges', 'flat')), -- calls whom), flat (totals only)
  source_name       TEXT NOT NULL,                          -- name of the file, - for standard input
  source_sha256     TEXT NOT NULL,                          -- SHA-256 of the file as it was stored (sha256sum)
  source_bytes      INTEGER NOT NULL,                       -- size of the file as it was stored, in bytes
  tool_version      TEXT,                                   -- version of the profiler, as the file says it; NULL
                                                            -- unknown
  command           TEXT,                                   -- command that made the file or was profiled; NULL unknown
  recorded_at       TEXT,                                   -- when it was recorded, as the file says it; NULL unknown
  imported_at       TEXT NOT NULL,                          -- when it was imported: UTC, ISO 8601
                                                            -- (2026-01-31T09:30:00Z)
  timer_bias        REAL,                                   -- time to read the profiler's timer once (a tick), in ns;
                                                            -- NULL unknown
  bias_applied      REAL,                                   -- already subtracted from times, in ns per tick; 0 none,
                                                            -- NULL unknown
  default_metric_id INTEGER REFERENCES metrics (metric_id), -- metric of the costs in nodes, and of reports unless asked
                                                            -- otherwise
  first_node        INTEGER,                                -- nodes.node_id of the run's first node; NULL if it has
                                                            -- none
  last_node         INTEGER,                                -- nodes.node_id of the run's last node; NULL if it has none
  profdb_version    TEXT NOT NULL,                          -- version of profdb that imported it
  functions         INTEGER NOT NULL DEFAULT 0,             -- how many functions it mentions, containers left out: the
                                                            -- rows of function_info in its default metric
  fingerprint       BLOB,                                   -- hash of its figures: metrics, and calls and exclusive of
                                                            -- each identity. Runs with equal ones are one recording,
                                                            -- not two. NULL unknown: stored before version 10
  recorded_utc      TEXT                                    -- recorded_at in a form whose order is that in time: UTC, nine
                                                            -- digits after the point (2026-01-31T09:30:00.000000000Z). A
                                                            -- time without a zone, or whose zone is a name, is read as
                                                            -- UTC; NULL if unknown, or in a form that is
) STRICT;

CREATE TABLE run_tags (
  -- What the user says of a run: `profdb import --tag KEY=VALUE FILE`.
  run_id INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  key    TEXT NOT NULL,                             -- name of the tag: commit, host, branch
  value  TEXT NOT NULL,                             -- its value
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_properties (
  -- What the file says of a run and no column of runs holds: settings, versions, totals of the file's own.
  run_id INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  key    TEXT NOT NULL,                             -- name as in the file
  value  TEXT NOT NULL,                             -- text as in the file
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

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
  identity_id INTEGER                        -- what it is held to be, whatever build or process its name is of
              REFERENCES identities (identity_id),
  -- One row per function. The name comes first so that this key is also the index for names.
  UNIQUE (name, module, file, kind, first_line, first_col)
) STRICT;

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
  metric_id   INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  function_id INTEGER NOT NULL REFERENCES functions (function_id), -- the function
  calls       INTEGER,                                             -- how often called; NULL if unknown
  primitive   INTEGER,                                             -- calls not made while it was already open; NULL if
                                                                   -- unknown
  exclusive   REAL,                                                -- cost of the function itself, in the metric's unit;
                                                                   -- NULL if unknown
  cumulative  REAL,                                                -- cost with what it called, recursion counted once,
                                                                   -- in the metric's unit; NULL if unknown
  seen        REAL,                                                -- the same with every level of recursion counted, in
                                                                   -- the metric's unit; NULL if unknown
  recorded    INTEGER NOT NULL,                                    -- 1 if the file itself gave any of these figures,
                                                                   -- else 0
  PRIMARY KEY (metric_id, function_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE line_info (
  -- What a run says of a line of a function, added up over all places where it was executed. Part of the function's own
  -- figures in function_info: never add the two.
  metric_id   INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  function_id INTEGER NOT NULL REFERENCES functions (function_id), -- the function
  file        TEXT NOT NULL,                                       -- file of the line where it is not the function's
                                                                   -- own, else ''
  line        INTEGER NOT NULL,                                    -- the line
  col         INTEGER NOT NULL,                                    -- column or clause; 0 if unknown
  calls       INTEGER,                                             -- how often executed; NULL if unknown
  exclusive   REAL,                                                -- cost of the line itself, in the metric's unit;
                                                                   -- NULL if unknown
  cumulative  REAL,                                                -- cost with what it called, recursion counted once,
                                                                   -- in the metric's unit; NULL if unknown
  recorded    INTEGER NOT NULL,                                    -- 1 if the file itself gave any of these figures,
                                                                   -- else 0
  PRIMARY KEY (metric_id, function_id, file, line, col)
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
  -- What there was to remark when a run was imported: records left out, figures that do not add up.
  note_id  INTEGER PRIMARY KEY,                       -- number of the note, in the order of the remarks
  run_id   INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  severity TEXT NOT NULL                              -- warning (a figure may be other than expected) or info
           CHECK (severity IN ('info', 'warning')),
  byte     INTEGER,                                   -- place: bytes before it in the decompressed file; NULL if none
  line     INTEGER,                                   -- place: line of the file, from 1; NULL if none
  message  TEXT NOT NULL                              -- the remark
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
  -- The lines of source texts. `profdb import --source DIR` stores those of the functions that the run has figures for: each
  -- from its first known line, or from where it begins if that is known, up to the next known line of another function in the
  -- file; of a script all of the function. With --source-lines figures, and before version 9, these are lines with figures only.
  source_id INTEGER NOT NULL REFERENCES sources (source_id), -- the text
  line      INTEGER NOT NULL,                                -- number of the line, as the profiler counts
  text      TEXT NOT NULL,                                   -- the line, without the blanks around it
  PRIMARY KEY (source_id, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_sources (
  -- Which text was the source of a function when a run was imported.
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

CREATE TABLE nodes (
  -- The call trees of all runs. A node is a function reached by one chain of callers (line IS NULL), or one line of the
  -- function node above it. Function nodes hold everything, line nodes break it down: never add the two. Nodes are
  -- numbered in pre-order (parent first), so that the nodes below n are node_id > n.node_id AND node_id <= n.last_id.
  -- Ask by run, through the view tree. What most rows would repeat is generated: write the columns called _other.
  node_id          INTEGER PRIMARY KEY, -- number in pre-order; runs.first_node..runs.last_node are one run
  up               INTEGER,             -- node_id less that of the parent; NULL at a root
  size             INTEGER NOT NULL,    -- how many nodes are below
  depth            INTEGER NOT NULL,    -- how many nodes are above: 0 at a root
  function_id      INTEGER NOT NULL,    -- the function that was running
  calls            INTEGER,             -- how often called (lines: executed) here; NULL if unknown
  exclusive        REAL NOT NULL,       -- cost of the node itself in the run's default metric, in the metric's unit
  line             INTEGER,             -- line number; NULL in function nodes
  cumulative_other REAL,                -- cumulative, in the metric's unit, where it is not the same as exclusive:
                                        -- NULL where it is, infinity if unknown
  outer_up         INTEGER,             -- node_id less that of the nearest enclosing node of the same function (line
                                        -- nodes: of the same line); NULL if there is none
  col              INTEGER,             -- column or clause of the line; NULL if unknown
  file             TEXT,                -- file of the line where it is not the function's own; else NULL
  cumulative       ANY GENERATED ALWAYS -- cost with everything called, in the metric's unit; NULL for lines if unknown
                   AS (NULLIF(COALESCE(cumulative_other, exclusive), 9e999)) VIRTUAL,
  parent_id        INTEGER GENERATED ALWAYS AS (node_id - up) VIRTUAL,      -- the node above; NULL at a root
  last_id          INTEGER GENERATED ALWAYS AS (node_id + size) VIRTUAL,    -- the last node below, itself if none
  outer_id         INTEGER GENERATED ALWAYS AS (node_id - outer_up) VIRTUAL -- the enclosing node of the same function;
                                                                            -- add cumulative only where it is NULL,
                                                                            -- else recursion counts twice
) STRICT;

CREATE TABLE node_costs (
  -- Costs of nodes in the metrics that are not the run's default one. A node without a row here cost 0.
  metric_id        INTEGER NOT NULL, -- the metric
  node_id          INTEGER NOT NULL, -- the node
  exclusive        REAL NOT NULL,    -- cost of the node itself, in the metric's unit
  cumulative_other REAL,             -- cumulative, in the metric's unit, where it is not the same as exclusive:
                                     -- NULL where it is, infinity if unknown
  cumulative       ANY GENERATED ALWAYS -- cost with everything called, in the metric's unit; NULL if unknown
                   AS (NULLIF(COALESCE(cumulative_other, exclusive), 9e999)) VIRTUAL,
  PRIMARY KEY (metric_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE label_sets (
  -- Labels of samples: what a profiler knows of them besides their stacks (request, worker, size of an object). Samples
  -- with the same labels share a set.
  run_id INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  set_id INTEGER NOT NULL,                          -- number of the set in its run, from 1
  key    TEXT NOT NULL,                             -- what is said; may come more than once in a set
  value  ANY NOT NULL,                              -- what is said of it: text, or a whole number
  unit   TEXT NOT NULL,                             -- what a number is counted in; '' for text, and if unknown
  PRIMARY KEY (run_id, set_id, key, value, unit)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_labels (
  -- What nodes cost themselves in samples with the same labels: part of exclusive in nodes and node_costs. What samples
  -- without labels cost has no row here.
  metric_id INTEGER NOT NULL REFERENCES metrics (metric_id), -- the metric, which belongs to one run
  node_id   INTEGER NOT NULL,                                -- the node
  set_id    INTEGER NOT NULL,                                -- the labels, a set of the run
  exclusive REAL NOT NULL,                                   -- cost of the node itself, in the metric's unit
  PRIMARY KEY (metric_id, node_id, set_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER runs_delete_labels BEFORE DELETE ON runs BEGIN
  -- Takes with a run the labels of its samples: before the metrics go, by which they are found.
  DELETE FROM node_labels WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM label_sets WHERE run_id = OLD.run_id;
END;

CREATE TABLE metrics (
  -- What was measured in a run: one row per run and measured quantity. Every cost in the other tables is of one metric
  -- and in its unit.
  metric_id      INTEGER PRIMARY KEY,                       -- number of the metric; belongs to one run only
  run_id         INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  name           TEXT NOT NULL,                             -- time, ticks, samples, alloc, or what the file calls it
  unit           TEXT NOT NULL                              -- unit of its costs: ns (nanoseconds), bytes or count
                 CHECK (unit IN ('ns', 'bytes', 'count')),
  position       INTEGER NOT NULL,                          -- order in the file, from 1
  total          REAL NOT NULL,                             -- cost of the whole run, in unit: 100 % of percentages
  total_source   TEXT NOT NULL                              -- who gave total: counted (the sum of the roots; without
                                                            -- nodes, of what functions cost themselves), stated (by
                                                            -- the file, which may leave out roots or contradict
                                                            -- itself)
                 CHECK (total_source IN ('counted', 'stated')),
  timer_readings INTEGER NOT NULL                           -- 1 if it counts how often the profiler's timer was read:
                 CHECK (timer_readings IN (0, 1)),          -- the ticks of timer_bias and bias_applied in runs; else 0
  noise          TEXT NOT NULL DEFAULT 'unknown'            -- how its costs differ between recordings of one program:
                 CHECK (noise IN ('exact', 'timed', 'sampled', 'unknown')), -- not at all (exact), by what else the
                                                            -- machine does (timed), by chance (sampled)
  observations   INTEGER                                    -- the metric of the run that counts the samples behind its
                 REFERENCES metrics (metric_id)             -- costs; NULL if there is none
                 DEFERRABLE INITIALLY DEFERRED,
  quantum        REAL,                                      -- what each sample adds, in unit; NULL if unknown, or not
                                                            -- the same for all
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

CREATE TABLE identities (
  -- What functions are held to be, whatever build, process or machine their names are of: functions of several runs with
  -- one identity are compared. Made by the rules in identity_rules of class, name, module and file, of nothing else.
  identity_id  INTEGER PRIMARY KEY,                       -- number of the identity; another one in another database
  class        TEXT NOT NULL                              -- code, or a container, which only holds nodes
               CHECK (class IN ('code', 'container')),
  name         TEXT NOT NULL,                             -- name without what a build or process makes up
  module       TEXT NOT NULL,                             -- module, package, program or library; '' if unknown
  file         TEXT NOT NULL,                             -- source file; '' if unknown
  unnamed      INTEGER NOT NULL CHECK (unnamed IN (0, 1)), -- 1 if it is all code of the module whose name is unknown
  identity_key BLOB NOT NULL UNIQUE                       -- first 16 bytes of the SHA-256 of class, name, module and
                                                          -- file, each after its length (32 bits, little-endian): the
                                                          -- same in every database whose rules have the same digest
) STRICT;

CREATE TABLE identity_rules (
  -- The rules that made the identities, in the order in which they are tried, again and again until none applies.
  position    INTEGER PRIMARY KEY,                             -- place in the order
  origin      TEXT NOT NULL                                    -- built-in; or user (`profdb identify --rules FILE`)
              CHECK (origin IN ('built-in', 'user')),
  about       TEXT NOT NULL,                                   -- what the rule takes away
  field       TEXT NOT NULL                                    -- what it changes; container is the name of a container
              CHECK (field IN ('name', 'module', 'file', 'container')),
  files       TEXT NOT NULL,                                   -- extensions of the files of functions that it is for;
                                                               -- - for functions without a file; '' for all
  pattern     TEXT NOT NULL,                                   -- regular expression of what is replaced
  replacement TEXT NOT NULL                                    -- what is put there; $1 is the first group
) STRICT;

CREATE TABLE identity_digests (
  -- Of which rules the identities are: one row.
  digest_id      INTEGER PRIMARY KEY CHECK (digest_id = 1), -- 1
  digest         BLOB NOT NULL,                             -- SHA-256 of field, files, pattern and replacement of all
                                                            -- rules, each after its length (32 bits, little-endian)
  profdb_version TEXT NOT NULL                              -- version of profdb whose built-in rules they are
) STRICT;

CREATE INDEX functions_by_identity ON functions (
  -- Finds the functions of an identity.
  identity_id
);

CREATE TRIGGER functions_delete AFTER DELETE ON functions BEGIN
  -- Takes with a function its identity, if no other function has it.
  DELETE FROM identities
  WHERE identity_id = OLD.identity_id
    AND NOT EXISTS (SELECT 1 FROM functions WHERE identity_id = OLD.identity_id);
END;

CREATE TABLE edges (
  -- Who called whom (caller -> callee), added up over the whole run, by line of the caller. With recursion no single
  -- figure for cost with everything called can serve all questions, so there are three: cumulative, outermost and seen.
  -- Where nothing recurs they are equal.
  metric_id       INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  callee_id       INTEGER NOT NULL REFERENCES functions (function_id), -- who was called
  back            INTEGER NOT NULL                                     -- 1 for a call known to exist, without cost of
                  CHECK (back IN (0, 1)),                              -- its own because the profiler has folded it
                                                                       -- into a node further up; else 0
  caller_id       INTEGER NOT NULL,                                    -- who called: a function_id, or 0: nobody, it
                                                                       -- was at the root
  line_file       TEXT NOT NULL,                                       -- file of that line where it is not the caller's
                                                                       -- own; '' where it is, and of runs that were
                                                                       -- stored before version 12
  caller_line     INTEGER NOT NULL,                                    -- from which line; -1 if unknown (0 is a line)
  caller_col      INTEGER NOT NULL,                                    -- from which column or clause of that line; 0 if
                                                                       -- unknown
  calls           INTEGER,                                             -- how often; NULL if unknown
  exclusive       REAL,                                                -- the callee's own cost when called here, in the
                                                                       -- metric's unit; NULL if unknown
  cumulative      REAL,                                                -- what the caller spent in the callee, in the
                                                                       -- metric's unit: on each path the pair counts
                                                                       -- once, at the outer call; NULL if unknown
  outermost_other REAL,                                                -- outermost, in the metric's unit, where it is
                                                                       -- not the same as cumulative: NULL where it is,
                                                                       -- infinity if unknown
  seen_other      REAL,                                                -- seen, in the metric's unit, where it is not
                                                                       -- the same as cumulative: NULL where it is,
                                                                       -- infinity if unknown
  kind            TEXT GENERATED ALWAYS -- call, or back
                  AS (CASE back WHEN 0 THEN 'call' ELSE 'back' END) VIRTUAL,
  outermost       ANY GENERATED ALWAYS -- cost where the callee is not open already, in the metric's unit: adds up over
                                       -- all callers to the callee's cumulative; NULL if unknown
                  AS (NULLIF(COALESCE(outermost_other, cumulative), 9e999)) VIRTUAL,
  seen            ANY GENERATED ALWAYS -- cost with every level of recursion counted, in the metric's unit; NULL if
                                       -- unknown
                  AS (NULLIF(COALESCE(seen_other, cumulative), 9e999)) VIRTUAL,
  PRIMARY KEY (metric_id, callee_id, back, caller_id, line_file, caller_line, caller_col)
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_by_caller ON edges (
  -- Finds whom a function called; the key of the table finds by whom it was called.
  metric_id, caller_id
);

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- What the planner is to expect; 0001_core.sql says what it means.
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
