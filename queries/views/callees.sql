CREATE VIEW callees (
  -- Whom a function called, how often, and what it spent there: one row per run, metric, function and callee.
  -- WHERE function = 'main' lists whom main calls. Where the same pair recurs on one path, cumulative counts the outer call alone. Roots,
  -- processes, threads and parts of a file call nothing: what lies directly below them is the callee of no function, or of
  -- the one around them.
  run_id,          -- number of the run
  run,             -- its title, else the name of its file
  metric,          -- what was measured: time, ticks, samples, alloc
  unit,            -- unit of the costs: ns (nanoseconds), bytes or count
  function,        -- name of the function that called
  module,          -- its module, package, program or library; '' if unknown
  file,            -- its source file; '' if unknown
  callee,          -- name of the function that was called
  callee_module,   -- its module; '' if unknown
  callee_file,     -- its source file; '' if unknown
  calls,           -- how often it was called from here; NULL if unknown
  cumulative,      -- what the function spent in the callee and in what that called, in unit; NULL if unknown
  cumulative_pct,  -- the same, % of the run's total; NULL if unknown, or if the total is 0
  kind,            -- call, or back: a call known to exist, without cost of its own
  includes_back    -- 1 if calls and cost of this call may include what arrived over back edges to the same function,
                   -- which the profiler folds into it; else 0
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
  )
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.caller_id
JOIN functions AS c ON c.function_id = e.callee_id
GROUP BY
  e.metric_id, e.caller_id, e.callee_id, e.back, r.run_id, COALESCE(r.title, r.source_name), m.name, f.name,
  f.module, f.file, c.name, c.module, c.file;
