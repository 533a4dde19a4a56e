CREATE VIEW labels (
  -- Labels of samples, with what samples with them cost, one row per run, metric and label. Samples may have several labels,
  -- and labels of one key several values: the costs of two labels need not exclude each other.
  run_id,        -- number of the run
  run,           -- its title, else the name of its file
  metric,        -- what was measured: time, ticks, samples, alloc
  unit,          -- unit of the costs: ns (nanoseconds), bytes or count
  key,           -- what is said of a sample
  value,         -- what is said of it: text, or a whole number
  value_unit,    -- what a number is counted in; '' for text, and if unknown
  exclusive,     -- cost of the samples with the label, in unit
  exclusive_pct  -- the same, % of the run's total; NULL if the total is 0
) AS
SELECT
  r.run_id,
  COALESCE(r.title, r.source_name),
  m.name,
  m.unit,
  s.key,
  s.value,
  s.unit,
  SUM(c.exclusive),
  100 * SUM(c.exclusive) / NULLIF(m.total, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN node_labels AS c ON c.metric_id = m.metric_id
-- Lines break down what their functions cost.
JOIN nodes AS n ON n.node_id = c.node_id AND n.line IS NULL
JOIN label_sets AS s ON s.run_id = r.run_id AND s.set_id = c.set_id
GROUP BY r.run_id, COALESCE(r.title, r.source_name), m.name, m.unit, m.total, s.key, s.value, s.unit;
