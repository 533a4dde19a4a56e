CREATE VIEW call_lines (
  -- Who called a function, and from which line: one row per run, metric, function, caller and line of the caller, so that
  -- a caller with two such lines has two rows. WHERE function = 'parse' lists the lines that call parse. The costs are those
  -- of the function, by line: as in view calls, cumulative adds up over all rows to the function's cumulative cost, and files without paths may have no
  -- row for what no function called.
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
  caller_line,     -- the line that called; NULL if unknown
  caller_col,      -- its column or clause; NULL if unknown
  calls,           -- how often it called; NULL if unknown
  exclusive,       -- cost of the function itself when called from there, in unit; NULL if unknown
  cumulative,      -- cost of the function and what it called when called from there, in unit; NULL if unknown
  cumulative_pct,  -- the same, % of the run's total; NULL if unknown, or if the total is 0
  kind,            -- call, or back: a call known to exist, without cost of its own
  includes_back,   -- 1 if calls and cost of this call may include what arrived over back edges to the same function,
                   -- which the profiler folds into it; else 0
  line_file        -- source file of the line where it is not the caller's own (inlined or included code); else NULL
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
  NULLIF(e.caller_line, -1),
  NULLIF(e.caller_col, 0),
  e.calls,
  e.exclusive,
  e.outermost,
  100 * e.outermost / NULLIF(m.total, 0),
  e.kind,
  e.back = 0 AND EXISTS (
    SELECT 1
    FROM edges AS b
    WHERE b.metric_id = e.metric_id AND b.callee_id = e.callee_id AND b.back = 1
  ),
  NULLIF(e.line_file, '')
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.callee_id
LEFT JOIN functions AS c ON c.function_id = e.caller_id;
