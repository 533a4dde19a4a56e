CREATE VIEW calls (
  -- Callers of a function, with calls and the cost of the function in them: one row per run, metric, function and caller. A
  -- function with two callers has two rows. WHERE function = 'parse' lists the callers of parse. Costs are those of the function, by
  -- caller: cumulative adds up over its callers to its cumulative cost in view summary. A recursive call adds 0, because its
  -- cost is part of the outer call. A function without a caller has the caller NULL: at the root, and directly below a
  -- process, a thread or a part of the file. A file with pairs of caller and callee but no paths (fidelity 'edges' in run_list)
  -- may not state the cost of functions without a caller. Then there is no such row, and the callers add up to less than
  -- summary.
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
  calls,             -- number of calls by the caller; NULL if unknown
  exclusive,         -- exclusive cost of the function in these calls, in unit; NULL if unknown
  cumulative,        -- inclusive cost of the function in these calls, in unit; NULL if unknown
  cumulative_pct,    -- cumulative, % of the run's total; NULL if unknown, or if the total is 0
  kind,              -- call, or back: a call without a known cost of its own
  includes_back,     -- 1 if calls and cost may include back edges to the same function, which the
                     -- profiler adds to this call; else 0
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
  CASE COUNT(*) WHEN COUNT(e.calls) THEN SUM(e.calls / 4294967296) * 4294967296 + SUM(e.calls % 4294967296) END,
  CASE COUNT(*) WHEN COUNT(e.exclusive) THEN SUM(e.exclusive) END,
  CASE COUNT(*) WHEN COUNT(e.outermost) THEN SUM(e.outermost) END,
  CASE COUNT(*) WHEN COUNT(e.outermost) THEN 100 * SUM(e.outermost) / NULLIF(m.total, 0) END,
  e.kind,
  e.back = 0 AND EXISTS (
    SELECT 1
    FROM edges AS b
    WHERE b.metric_id = e.metric_id AND b.callee_id = e.callee_id AND b.back = 1
  ),
  e.callee_id,
  NULLIF(f.first_line, 0),
  NULLIF(e.caller_id, 0),
  NULLIF(c.first_line, 0)
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
JOIN functions AS f ON f.function_id = e.callee_id
LEFT JOIN functions AS c ON c.function_id = e.caller_id
GROUP BY
  e.metric_id, e.callee_id, e.back, e.caller_id, r.run_id, COALESCE(r.title, r.source_name), m.name, f.name,
  f.module, f.file, f.first_line, c.name, c.module, c.file, c.first_line;
