CREATE VIEW exclusive (
  -- Functions by exclusive cost, the most expensive first, one row per run, metric and function. WHERE rank <= 10 selects the
  -- top ten of each run and metric.
  run_id,       -- number of the run
  run,          -- its title, or the name of its file
  metric,       -- name of the metric: time, ticks, samples, alloc
  unit,         -- unit of the costs: ns (nanoseconds), bytes or count
  rank,         -- 1 for the most expensive function of the run in this metric; ties by name
  function,     -- name of the function
  module,       -- its module, package, program or library; '' if unknown
  file,         -- its source file; '' if unknown
  calls,        -- number of calls; NULL if unknown
  exclusive,    -- exclusive cost, in unit; NULL if unknown
  pct,          -- exclusive, % of the run's total; NULL if unknown, or if the total is 0
  cum_pct,      -- sum of pct over this row and all rows ranked before it, in %; above 100 with costs outside the total
  function_id,  -- number of the function in table functions
  first_line    -- line where the definition of the function starts; NULL if unknown
) AS
SELECT
  r.run_id,
  COALESCE(r.title, r.source_name),
  m.name,
  m.unit,
  ROW_NUMBER() OVER ranking,
  f.name,
  f.module,
  f.file,
  i.calls,
  i.exclusive,
  100 * i.exclusive / NULLIF(m.total, 0),
  SUM(100 * i.exclusive / NULLIF(m.total, 0)) OVER (ranking ROWS UNBOUNDED PRECEDING),
  f.function_id,
  NULLIF(f.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN function_info AS i ON i.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = i.function_id
WHERE f.kind IN ('function', 'pseudo')
WINDOW ranking AS (
  PARTITION BY r.run_id, m.name
  ORDER BY i.exclusive DESC, f.name, f.module, f.file, f.function_id
);
