PRAGMA legacy_alter_table = ON;

ALTER TABLE metrics RENAME TO metrics_0006;

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
  UNIQUE (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

INSERT INTO metrics (metric_id, run_id, name, unit, position, total, total_source, timer_readings)
SELECT
  m.metric_id, m.run_id, m.name, m.unit, m.position, m.total, m.total_source,
  -- The ticks of other formats are samples.
  m.name = 'ticks' AND r.format IN ('dyalog_xml', 'dyalog_csv')
FROM metrics_0006 AS m
JOIN runs AS r ON r.run_id = m.run_id
ORDER BY m.metric_id;

DROP TABLE metrics_0006;

PRAGMA legacy_alter_table = OFF;

UPDATE metrics
SET
  -- Where what a root called cost more than the file says of the root, the total was the greater of the two. So it is
  -- still in trees of samples, which are as many as were seen anywhere; there, that is no sum of the roots.
  total = CASE WHEN counted.samples THEN metrics.total ELSE counted.total END,
  total_source = CASE WHEN counted.samples THEN 'stated' ELSE 'counted' END
FROM (
  WITH RECURSIVE roots (run_id, last_node, node_id, last_id) AS (
    SELECT r.run_id, r.last_node, n.node_id, n.last_id
    FROM runs AS r
    CROSS JOIN nodes AS n
    WHERE n.node_id = r.first_node
    UNION ALL
    SELECT last.run_id, last.last_node, n.node_id, n.last_id
    FROM roots AS last
    CROSS JOIN nodes AS n
    WHERE last.last_id < last.last_node AND n.node_id = MAX(last.node_id, last.last_id) + 1
  )
  SELECT
    m.metric_id,
    r.format = 'lispworks_tree' AS samples,
    SUM(CASE WHEN m.metric_id = r.default_metric_id THEN n.cumulative ELSE COALESCE(c.cumulative, 0.0) END) AS total
  FROM roots
  CROSS JOIN runs AS r
  CROSS JOIN metrics AS m
  CROSS JOIN nodes AS n
  LEFT JOIN node_costs AS c ON c.metric_id = m.metric_id AND c.node_id = roots.node_id
  WHERE r.run_id = roots.run_id
    AND m.run_id = roots.run_id
    AND m.total_source = 'counted'
    AND n.node_id = roots.node_id
  GROUP BY m.metric_id
) AS counted
WHERE counted.metric_id = metrics.metric_id
  -- The same costs, added up in another order, are the same total.
  AND ABS(metrics.total - counted.total) > 1e-6 + 1e-9 * ABS(counted.total);

ANALYZE sqlite_schema;
