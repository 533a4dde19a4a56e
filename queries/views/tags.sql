CREATE VIEW tags (
  -- The former name of view labels.
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
SELECT
  run_id,
  run,
  metric,
  unit,
  key,
  value,
  value_unit,
  exclusive,
  exclusive_pct
FROM labels;
