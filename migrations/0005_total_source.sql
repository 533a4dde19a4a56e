PRAGMA legacy_alter_table = ON;

ALTER TABLE metrics RENAME TO metrics_0004;

CREATE TABLE metrics (
  -- What was measured in a run: one row per run and measured quantity. Every cost in the other tables is of one metric
  -- and in its unit.
  metric_id    INTEGER PRIMARY KEY,              -- number of the metric; belongs to one run only
  run_id       INTEGER NOT NULL REFERENCES runs, -- the run
  name         TEXT NOT NULL,                    -- time, ticks (readings of the timer), samples, alloc
  unit         TEXT NOT NULL                     -- unit of its costs: ns (nanoseconds), bytes or count
               CHECK (unit IN ('ns', 'bytes', 'count')),
  position     INTEGER NOT NULL,                 -- order in the file, from 1
  total        REAL NOT NULL,                    -- cost of the whole run, in unit: 100 % of percentages
  total_source TEXT NOT NULL                     -- who gave total: counted (the sum of the roots; without nodes, of what
                                                 -- functions cost themselves), stated (by the file, which may leave out
                                                 -- roots or contradict itself)
               CHECK (total_source IN ('counted', 'stated')),
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

INSERT INTO metrics (metric_id, run_id, name, unit, position, total, total_source)
SELECT
  m.metric_id, m.run_id, m.name, m.unit, m.position, m.total,
  CASE
    -- Who gave the total could be told from notes and properties only. Where a file stated what its functions add up to,
    -- and neither says so, it counts as counted.
    WHEN EXISTS (
      SELECT 1
      FROM notes AS n
      WHERE n.run_id = m.run_id AND n.message GLOB 'the file states a total of *'
    ) OR EXISTS (
      SELECT 1
      FROM run_properties AS p
      WHERE p.run_id = m.run_id AND p.key IN ('total_ticks', 'total time')
    ) OR EXISTS (
      -- Leaves the built-in cost centres out, which are below a root of their own.
      SELECT 1
      FROM run_properties AS p
      JOIN function_nodes AS n ON n.run_id = p.run_id
      JOIN functions AS f ON f.function_id = n.function_id
      WHERE p.run_id = m.run_id AND p.key = 'TotalTicks' AND f.kind = 'root'
    ) THEN 'stated'
    ELSE 'counted'
  END
FROM metrics_0004 AS m
ORDER BY m.metric_id;

DROP TABLE metrics_0004;

PRAGMA legacy_alter_table = OFF;

ANALYZE sqlite_schema;
