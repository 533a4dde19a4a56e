CREATE VIEW tags (
  -- The same as labels, by the name that it had before runs had tags.
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
