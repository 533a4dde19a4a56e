CREATE VIEW lines (
  -- Calls and cost of every line of every function, one row per run, metric and line. A line's cost is part of its
  -- function's: never add the two.
  run_id,          -- number of the run
  run,             -- its title, or the name of its file
  metric,          -- name of the metric: time, ticks, samples, alloc
  unit,            -- unit of the costs: ns (nanoseconds), bytes or count
  function,        -- name of the function
  module,          -- its module, package, program or library; '' if unknown
  file,            -- source file of the line; '' if unknown
  line,            -- the line, as the profiler numbers it (the first may be 0)
  col,             -- column or clause; NULL if unknown
  calls,           -- number of executions; NULL if unknown
  exclusive,       -- exclusive cost, in unit
  exclusive_pct,   -- exclusive, % of the run's total; NULL if the total is 0
  cumulative,      -- inclusive cost, recursion counted once, in unit; NULL if unknown
  cumulative_pct,  -- cumulative, % of the run's total; NULL if the total is 0
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
  CASE i.file WHEN '' THEN f.file ELSE i.file END,
  i.line,
  NULLIF(i.col, 0),
  i.calls,
  i.exclusive,
  100 * i.exclusive / NULLIF(m.total, 0),
  i.cumulative,
  100 * i.cumulative / NULLIF(m.total, 0),
  f.function_id,
  NULLIF(f.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN line_info AS i ON i.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = i.function_id;
