CREATE VIEW function_labels (
  -- Exclusive costs of functions in samples with each label, one row per run, metric, label and function. A sample may have
  -- several labels, also with the same key: the costs of two labels may overlap.
  run_id,       -- number of the run
  run,          -- its title, or the name of its file
  metric,       -- name of the metric: time, ticks, samples, alloc
  unit,         -- unit of the costs: ns (nanoseconds), bytes or count
  key,          -- key of the label
  value,        -- value of the label: text, or a whole number
  value_unit,   -- unit of a number; '' for text, and if unknown
  function,     -- name of the function that was running
  module,       -- its module, package, program or library; '' if unknown
  file,         -- its source file; '' if unknown
  exclusive,    -- exclusive cost of the function in samples with the label, in unit
  pct,          -- exclusive, % of the run's total; NULL if the total is 0
  function_id,  -- its number in table functions
  first_line    -- line where the definition of the function starts; NULL if unknown
) AS
-- Aggregates by numbers first, then with a window, as in view labels.
SELECT DISTINCT
  x.run_id,
  COALESCE(r.title, r.source_name),
  x.metric,
  m.unit,
  s.key,
  s.value,
  s.unit,
  f.name,
  f.module,
  f.file,
  SUM(x.exclusive) OVER label,
  100 * SUM(x.exclusive) OVER label / NULLIF(m.total, 0),
  x.function_id,
  NULLIF(f.first_line, 0)
FROM (
  SELECT m.run_id, m.name AS metric, c.metric_id, c.set_id, n.function_id, SUM(c.exclusive) AS exclusive
  FROM metrics AS m
  JOIN node_labels AS c ON c.metric_id = m.metric_id
  -- Function nodes only: their cost includes the cost of their lines.
  JOIN nodes AS n ON n.node_id = c.node_id AND n.line IS NULL
  GROUP BY c.metric_id, c.set_id, n.function_id, m.run_id, m.name
) AS x
JOIN runs AS r ON r.run_id = x.run_id
JOIN metrics AS m ON m.metric_id = x.metric_id
JOIN label_sets AS s ON s.run_id = x.run_id AND s.set_id = x.set_id
JOIN functions AS f ON f.function_id = x.function_id
WINDOW label AS (PARTITION BY x.run_id, x.metric, s.key, s.value, s.unit, x.function_id);
