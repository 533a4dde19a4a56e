CREATE VIEW callees (
  -- Callees of a function, with calls and cost: one row per run, metric, function and callee. WHERE function = 'main' lists
  -- the callees of main. If a pair recurs on one path, cumulative counts the outer call only. Roots, processes, threads and parts of a
  -- file are not callers: functions directly below them are callees of the enclosing function, or of none.
  run_id,            -- number of the run
  run,               -- its title, or the name of its file
  metric,            -- name of the metric: time, ticks, samples, alloc
  unit,              -- unit of the costs: ns (nanoseconds), bytes or count
  function,          -- name of the calling function
  module,            -- its module, package, program or library; '' if unknown
  file,              -- its source file; '' if unknown
  callee,            -- name of the called function
  callee_module,     -- its module; '' if unknown
  callee_file,       -- its source file; '' if unknown
  calls,             -- number of calls by the function; NULL if unknown
  cumulative,        -- inclusive cost of the callee in these calls, in unit; NULL if unknown
  cumulative_pct,    -- cumulative, % of the run's total; NULL if unknown, or if the total is 0
  kind,              -- call, or back: a call without a known cost of its own
  includes_back,     -- 1 if calls and cost may include back edges to the same function, which the
                     -- profiler adds to this call; else 0
  function_id,       -- number of the function in table functions
  first_line,        -- line where its definition starts; NULL if unknown
  callee_id,         -- number of the callee
  callee_first_line  -- line where the definition of the callee starts; NULL if unknown
) AS
SELECT
  r.run_id,
  COALESCE(r.title, r.source_name),
  m.name,
  m.unit,
  f.name,
  f.module,
  f.file,
  c.name,
  c.module,
  c.file,
  CASE COUNT(*) WHEN COUNT(e.calls) THEN SUM(e.calls / 4294967296) * 4294967296 + SUM(e.calls % 4294967296) END,
  CASE COUNT(*) WHEN COUNT(e.cumulative) THEN SUM(e.cumulative) END,
  CASE COUNT(*) WHEN COUNT(e.cumulative) THEN 100 * SUM(e.cumulative) / NULLIF(m.total, 0) END,
  e.kind,
  e.back = 0 AND EXISTS (
    SELECT 1
    FROM edges AS b
    WHERE b.metric_id = e.metric_id AND b.callee_id = e.callee_id AND b.back = 1
  ),
  e.caller_id,
  NULLIF(f.first_line, 0),
  e.callee_id,
  NULLIF(c.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.caller_id
JOIN functions AS c ON c.function_id = e.callee_id
GROUP BY
  e.metric_id, e.caller_id, e.callee_id, e.back, r.run_id, COALESCE(r.title, r.source_name), m.name, f.name,
  f.module, f.file, f.first_line, c.name, c.module, c.file, c.first_line;
