CREATE VIEW summary (
  -- Calls and cost of every function, one row per run, metric and function. The default metric has all functions, other
  -- metrics those with a cost. calls is equal in every metric: filter by metric before adding it up.
  run_id,          -- number of the run
  run,             -- its title, or the name of its file
  metric,          -- name of the metric: time, ticks, samples, alloc
  unit,            -- unit of the costs: ns (nanoseconds), bytes or count
  function,        -- name of the function
  module,          -- its module, package, program or library; '' if unknown
  file,            -- its source file; '' if unknown
  kind,            -- function, or pseudo: not code of the program (garbage collector, idle)
  calls,           -- number of calls; NULL if unknown
  exclusive,       -- exclusive cost, in unit; NULL if unknown
  exclusive_pct,   -- exclusive, % of the run's total; NULL if the total is 0
  cumulative,      -- inclusive cost, recursion counted once, in unit; NULL if unknown
  cumulative_pct,  -- cumulative, % of the run's total; NULL if the total is 0
  exclusive_avg,   -- exclusive cost per call, in unit; NULL if calls is unknown or 0
  cumulative_avg,  -- cumulative cost per call, in unit; NULL if calls is unknown or 0
  seen,            -- inclusive cost, every level of recursion counted, in unit; NULL if unknown
  function_id,     -- its number in table functions
  first_line       -- line where the definition of the function starts; NULL if unknown
) AS
SELECT
  r.run_id,
  COALESCE(r.title, r.source_name),
  m.name,
  m.unit,
  f.name,
  f.module,
  f.file,
  f.kind,
  i.calls,
  i.exclusive,
  100 * i.exclusive / NULLIF(m.total, 0),
  i.cumulative,
  100 * i.cumulative / NULLIF(m.total, 0),
  i.exclusive / NULLIF(i.calls, 0),
  i.cumulative / NULLIF(i.calls, 0),
  i.seen,
  f.function_id,
  NULLIF(f.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN function_info AS i ON i.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = i.function_id
WHERE f.kind IN ('function', 'pseudo');
