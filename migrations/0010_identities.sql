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
  fingerprint       BLOB                                    -- hash of its figures: metrics, and calls and exclusive of
                                                            -- each identity. Runs with equal ones are one recording,
                                                            -- not two. NULL unknown: stored before version 10
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
  identity_id INTEGER                        -- what it is held to be, whatever build or process its name is of
              REFERENCES identities (identity_id),
  -- One row per function. The name comes first so that this key is also the index for names.
  UNIQUE (name, module, file, kind, first_line, first_col)
) STRICT;

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
