CREATE VIEW changes (
  -- What changed from one run to another: one row per pair of runs, metric that both have, and function of either. Functions
  -- are one where their identities are, whatever the build. Ask with base_run_id and run_id, and with numbers or bound
  -- values: for a subquery or a join, all pairs of runs are compared. Differences of two runs are noise as well as change:
  -- `profdb diff` tells the two apart.
  base_run_id,         -- number of the run that is compared with
  run_id,              -- number of the run that is compared
  metric,              -- what was measured: time, ticks, samples, alloc
  unit,                -- unit of the costs: ns (nanoseconds), bytes or count
  function,            -- name of the function, after the rules of identities
  module,              -- its module, package, program or library; '' if unknown
  file,                -- its source file; '' if unknown
  base_calls,          -- how often it was called in base; 0 if it is not there, NULL if unknown
  calls,               -- how often it was called; 0 if it is not there, NULL if unknown
  base_exclusive,      -- cost of the function itself in base, in unit
  exclusive,           -- cost of the function itself, in unit
  exclusive_delta,     -- exclusive - base_exclusive, in unit
  base_exclusive_pct,  -- base_exclusive, % of the total of base; NULL if that is 0
  exclusive_pct,       -- exclusive, % of the run's total; NULL if that is 0
  base_cumulative,     -- cost with what it called in base, in unit; NULL if unknown, or of several functions
  cumulative,          -- cost with what it called, in unit; NULL if unknown, or of several functions
  cumulative_delta,    -- cumulative - base_cumulative, in unit; NULL where one of them is
  status,              -- both; new: base does not have the function; gone: only base has it
  functions,           -- how many functions of one run are added up in the row, at most
  identity_id          -- its number in table identities
) AS
SELECT
  b.run_id,
  r.run_id,
  m.name,
  m.unit,
  d.name,
  d.module,
  d.file,
  CASE SUM(i.metric_id = m.metric_id) WHEN 0 THEN 0
    WHEN COUNT(IIF(i.metric_id = m.metric_id, i.calls, NULL))
      THEN SUM(IIF(i.metric_id = m.metric_id, i.calls / 4294967296, 0)) * 4294967296
        + SUM(IIF(i.metric_id = m.metric_id, i.calls % 4294967296, 0)) END,
  CASE SUM(i.metric_id = o.metric_id) WHEN 0 THEN 0
    WHEN COUNT(IIF(i.metric_id = o.metric_id, i.calls, NULL))
      THEN SUM(IIF(i.metric_id = o.metric_id, i.calls / 4294967296, 0)) * 4294967296
        + SUM(IIF(i.metric_id = o.metric_id, i.calls % 4294967296, 0)) END,
  TOTAL(IIF(i.metric_id = m.metric_id, i.exclusive, 0.0)),
  TOTAL(IIF(i.metric_id = o.metric_id, i.exclusive, 0.0)),
  TOTAL(IIF(i.metric_id = o.metric_id, i.exclusive, 0.0)) - TOTAL(IIF(i.metric_id = m.metric_id, i.exclusive, 0.0)),
  100 * TOTAL(IIF(i.metric_id = m.metric_id, i.exclusive, 0.0)) / NULLIF(m.total, 0),
  100 * TOTAL(IIF(i.metric_id = o.metric_id, i.exclusive, 0.0)) / NULLIF(o.total, 0),
  CASE SUM(i.metric_id = m.metric_id) WHEN 0 THEN 0.0 WHEN 1 THEN MAX(IIF(i.metric_id = m.metric_id, i.cumulative, NULL)) END,
  CASE SUM(i.metric_id = o.metric_id) WHEN 0 THEN 0.0 WHEN 1 THEN MAX(IIF(i.metric_id = o.metric_id, i.cumulative, NULL)) END,
  CASE SUM(i.metric_id = o.metric_id) WHEN 0 THEN 0.0 WHEN 1 THEN MAX(IIF(i.metric_id = o.metric_id, i.cumulative, NULL)) END
    - CASE SUM(i.metric_id = m.metric_id) WHEN 0 THEN 0.0 WHEN 1 THEN MAX(IIF(i.metric_id = m.metric_id, i.cumulative, NULL)) END,
  CASE 0 WHEN SUM(i.metric_id = m.metric_id) THEN 'new' WHEN SUM(i.metric_id = o.metric_id) THEN 'gone' ELSE 'both' END,
  MAX(SUM(i.metric_id = m.metric_id), SUM(i.metric_id = o.metric_id)),
  d.identity_id
-- CROSS JOIN keeps the planner from starting anywhere but at the two runs.
FROM runs AS b
CROSS JOIN runs AS r
CROSS JOIN metrics AS m ON m.run_id = b.run_id
CROSS JOIN metrics AS o ON o.run_id = r.run_id AND o.name = m.name AND o.unit = m.unit
CROSS JOIN function_info AS i ON i.metric_id IN (m.metric_id, o.metric_id)
CROSS JOIN functions AS f ON f.function_id = i.function_id
CROSS JOIN identities AS d ON d.identity_id = f.identity_id
WHERE f.kind IN ('function', 'pseudo')
-- The columns of runs and metrics are there so that a question for one pair of runs reads these alone.
GROUP BY b.run_id, r.run_id, m.name, m.unit, m.total, o.total, d.identity_id, d.name, d.module, d.file;
