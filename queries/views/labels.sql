CREATE VIEW labels (
  -- Labels of samples, with the cost of their samples, one row per run, metric and label. A sample may have several labels, also
  -- with the same key: the costs of two labels may overlap.
  run_id,        -- number of the run
  run,           -- its title, or the name of its file
  metric,        -- name of the metric: time, ticks, samples, alloc
  unit,          -- unit of the costs: ns (nanoseconds), bytes or count
  key,           -- key of the label
  value,         -- value of the label: text, or a whole number
  value_unit,    -- unit of a number; '' for text, and if unknown
  exclusive,     -- cost of the samples with the label, in unit
  exclusive_pct  -- exclusive, % of the run's total; NULL if the total is 0
) AS
-- Aggregates by numbers first, as there are many more nodes than label sets. A window instead of GROUP BY: SQLite does not push
-- the condition on run_id into a nested GROUP BY, and would read all runs.
SELECT DISTINCT
  x.run_id,
  COALESCE(r.title, r.source_name),
  x.metric,
  m.unit,
  s.key,
  s.value,
  s.unit,
  SUM(x.exclusive) OVER label,
  100 * SUM(x.exclusive) OVER label / NULLIF(m.total, 0)
FROM (
  SELECT m.run_id, m.name AS metric, c.metric_id, c.set_id, SUM(c.exclusive) AS exclusive
  FROM metrics AS m
  JOIN node_labels AS c ON c.metric_id = m.metric_id
  -- Function nodes only: their cost includes the cost of their lines.
  JOIN nodes AS n ON n.node_id = c.node_id AND n.line IS NULL
  GROUP BY c.metric_id, c.set_id, m.run_id, m.name
) AS x
JOIN runs AS r ON r.run_id = x.run_id
JOIN metrics AS m ON m.metric_id = x.metric_id
JOIN label_sets AS s ON s.run_id = x.run_id AND s.set_id = x.set_id
WINDOW label AS (PARTITION BY x.run_id, x.metric, s.key, s.value, s.unit);
