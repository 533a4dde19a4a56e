CREATE TABLE runs (
  -- The runs: one row per imported profile. A run's nodes are the rows first_node..last_node of table nodes. Deleting a
  -- row here deletes everything that belongs to the run (trigger runs_delete).
  run_id            INTEGER PRIMARY KEY AUTOINCREMENT,      -- number of the run; not used again after a delete
  run_uid           TEXT NOT NULL UNIQUE,                   -- hash of content, format and importer, and of the title
                                                            -- and tags that the import was given: equal uid, equal rows
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
  profdb_version    TEXT NOT NULL                           -- version of profdb that imported it
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

CREATE TABLE source_texts (
  -- The lines of source texts that some run has figures for; a text is never stored whole for its own sake.
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

CREATE TABLE edges (
  -- Who called whom (caller -> callee), added up over the whole run, by line of the caller. With recursion no single
  -- figure for cost with everything called can serve all questions, so there are three: cumulative, outermost and seen.
  -- Where nothing recurs they are equal.
  metric_id       INTEGER NOT NULL REFERENCES metrics (metric_id),     -- the metric, which belongs to one run
  callee_id       INTEGER NOT NULL REFERENCES functions (function_id), -- who was called
  caller_id       INTEGER NOT NULL,                                    -- who called: a function_id, or 0: nobody, it
                                                                       -- was at the root
  caller_line     INTEGER NOT NULL,                                    -- from which line; -1 if unknown (0 is a line)
  caller_col      INTEGER NOT NULL,                                    -- from which column or clause of that line; 0 if
                                                                       -- unknown
  back            INTEGER NOT NULL                                     -- 1 for a call known to exist, without cost of
                  CHECK (back IN (0, 1)),                              -- its own because the profiler has folded it
                                                                       -- into a node further up; else 0
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
  PRIMARY KEY (metric_id, callee_id, caller_id, caller_line, caller_col, back)
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

CREATE TABLE metrics (
  -- What was measured in a run: one row per run and measured quantity. Every cost in the other tables is of one metric
  -- and in its unit.
  metric_id    INTEGER PRIMARY KEY,                       -- number of the metric; belongs to one run only
  run_id       INTEGER NOT NULL REFERENCES runs (run_id), -- the run
  name         TEXT NOT NULL,                             -- time, ticks (readings of the timer), samples, alloc
  unit         TEXT NOT NULL                              -- unit of its costs: ns (nanoseconds), bytes or count
               CHECK (unit IN ('ns', 'bytes', 'count')),
  position     INTEGER NOT NULL,                          -- order in the file, from 1
  total        REAL NOT NULL,                             -- cost of the whole run, in unit: 100 % of percentages
  total_source TEXT NOT NULL                              -- who gave total: counted (the sum of the roots; without
                                                          -- nodes, of what functions cost themselves), stated (by the
                                                          -- file, which may leave out roots or contradict itself)
               CHECK (total_source IN ('counted', 'stated')),
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;
