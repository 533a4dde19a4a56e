CREATE VIEW call_lines (
  -- Callers of a function by line: one row per run, metric, function, caller and line of the caller. A caller with two such
  -- lines has two rows. WHERE function = 'parse' lists the lines that call parse. Costs are those of the function, by line. As in
  -- view calls, cumulative adds up over all rows to the function's cumulative cost. Files without paths may have no row for
  -- functions without a caller.
  run_id,            -- number of the run
  run,               -- its title, or the name of its file
  metric,            -- name of the metric: time, ticks, samples, alloc
  unit,              -- unit of the costs: ns (nanoseconds), bytes or count
  function,          -- name of the called function
  module,            -- its module, package, program or library; '' if unknown
  file,              -- its source file; '' if unknown
  caller,            -- name of the caller; NULL at the root
  caller_module,     -- its module; '' if unknown, NULL at the root
  caller_file,       -- its source file; '' if unknown, NULL at the root
  caller_line,       -- calling line; NULL if unknown
  caller_col,        -- its column or clause; NULL if unknown
  calls,             -- number of calls by the caller; NULL if unknown
  exclusive,         -- exclusive cost of the function in these calls, in unit; NULL if unknown
  cumulative,        -- inclusive cost of the function in these calls, in unit; NULL if unknown
  cumulative_pct,    -- cumulative, % of the run's total; NULL if unknown, or if the total is 0
  kind,              -- call, or back: a call without a known cost of its own
  includes_back,     -- 1 if calls and cost may include back edges to the same function, which the
                     -- profiler adds to this call; else 0
  line_file,         -- source file of the line if it differs from the caller's (inlined or included code); else NULL
  function_id,       -- number of the function in table functions
  first_line,        -- line where its definition starts; NULL if unknown
  caller_id,         -- number of the caller; NULL at the root
  caller_first_line  -- line where the definition of the caller starts; NULL if unknown
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
  NULLIF(e.line_file, ''),
  e.callee_id,
  NULLIF(f.first_line, 0),
  NULLIF(e.caller_id, 0),
  NULLIF(c.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.callee_id
LEFT JOIN functions AS c ON c.function_id = e.caller_id;
