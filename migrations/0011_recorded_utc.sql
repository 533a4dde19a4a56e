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
