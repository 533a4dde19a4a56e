CREATE VIEW calls (
  -- Who called a function, how often, and what the function cost then: one row per run, metric, function and caller, so
  -- that a function which two others call has two rows. WHERE function = 'parse' lists who calls parse. The costs are those of
  -- the function, by caller: cumulative adds up over its callers to its cumulative cost in view summary. A call made while
  -- another one of the same function is open (recursion) adds 0 to that, as its cost is in the outer one. What no function
  -- called has the caller NULL: at the root, and directly below a process, a thread or a part of the file, which call nothing.
  -- Where the file has pairs of caller and callee and no paths (fidelity 'edges' in run_list), it may tell nothing of what was
  -- called by no function: then there is no such row, and what summary has more than the callers is that.
  run_id,          -- number of the run
  run,             -- its title, else the name of its file
  metric,          -- what was measured: time, ticks, samples, alloc
  unit,            -- unit of the costs: ns (nanoseconds), bytes or count
  function,        -- name of the function that was called
  module,          -- its module, package, program or library; '' if unknown
  file,            -- its source file; '' if unknown
  caller,          -- name of the function that called; NULL at the root
  caller_module,   -- its module; '' if unknown, NULL at the root
  caller_file,     -- its source file; '' if unknown, NULL at the root
  calls,           -- how often it called; NULL if unknown
  exclusive,       -- cost of the function itself when called from there, in unit; NULL if unknown
  cumulative,      -- cost of the function and what it called when called from there, in unit; NULL if unknown
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
  CASE COUNT(*) WHEN COUNT(e.exclusive) THEN SUM(e.exclusive) END,
  CASE COUNT(*) WHEN COUNT(e.outermost) THEN SUM(e.outermost) END,
  CASE COUNT(*) WHEN COUNT(e.outermost) THEN 100 * SUM(e.outermost) / NULLIF(m.total, 0) END,
  e.kind,
  e.back = 0 AND EXISTS (
    SELECT 1
    FROM edges AS b
    WHERE b.metric_id = e.metric_id AND b.callee_id = e.callee_id AND b.back = 1
  )
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.callee_id
LEFT JOIN functions AS c ON c.function_id = e.caller_id
GROUP BY
  e.metric_id, e.callee_id, e.back, e.caller_id, r.run_id, COALESCE(r.title, r.source_name), m.name, f.name,
  f.module, f.file, c.name, c.module, c.file;
