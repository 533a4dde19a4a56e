PRAGMA legacy_alter_table = ON;

ALTER TABLE edges RENAME TO edges_0011;

DROP INDEX edges_by_caller;

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

INSERT INTO edges (
  metric_id, callee_id, back, caller_id, line_file, caller_line, caller_col, calls, exclusive, cumulative,
  outermost_other, seen_other
)
SELECT
  metric_id, callee_id, back, caller_id, '', caller_line, caller_col, calls, exclusive, cumulative, outermost_other,
  seen_other
FROM edges_0011
ORDER BY metric_id, callee_id, back, caller_id, caller_line, caller_col;

DROP TABLE edges_0011;

CREATE INDEX edges_by_caller ON edges (
  -- Finds whom a function called; the key of the table finds by whom it was called.
  metric_id, caller_id
);

UPDATE sqlite_stat1 SET stat = '2000000 100000 10 10 2 2 1 1' WHERE tbl = 'edges' AND idx = 'edges';

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- Went with the table that it was about; 0001 says what it means.
  ('edges', 'edges_by_caller', '2000000 100000 10');

PRAGMA legacy_alter_table = OFF;

ANALYZE sqlite_schema;
