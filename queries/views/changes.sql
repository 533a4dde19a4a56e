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
  x.base_run_id,
  x.run_id,
  x.metric,
  x.unit,
  x.function,
  x.module,
  x.file,
  x.base_calls,
  x.calls,
  x.base_exclusive,
  x.exclusive,
  x.exclusive - x.base_exclusive,
  100 * x.base_exclusive / NULLIF(x.base_total, 0),
  100 * x.exclusive / NULLIF(x.total, 0),
  x.base_cumulative,
  x.cumulative,
  x.cumulative - x.base_cumulative,
  CASE 0 WHEN x.base_functions THEN 'new' WHEN x.functions THEN 'gone' ELSE 'both' END,
  MAX(x.base_functions, x.functions),
  x.identity_id
FROM (
  SELECT
    b.run_id AS base_run_id,
    r.run_id AS run_id,
    m.name AS metric,
    m.unit AS unit,
    m.total AS base_total,
    o.total AS total,
    d.name AS function,
    d.module AS module,
    d.file AS file,
    d.identity_id AS identity_id,
    (
      SELECT CASE WHEN COUNT(*) = 0 THEN 0
        WHEN COUNT(k.calls) THEN SUM(k.calls / 4294967296) * 4294967296 + SUM(k.calls % 4294967296) END
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = b.default_metric_id AND k.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS base_calls,
    (
      SELECT CASE WHEN COUNT(*) = 0 THEN 0
        WHEN COUNT(k.calls) THEN SUM(k.calls / 4294967296) * 4294967296 + SUM(k.calls % 4294967296) END
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = r.default_metric_id AND k.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS calls,
    (
      SELECT TOTAL(k.exclusive)
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS base_exclusive,
    (
      SELECT TOTAL(k.exclusive)
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = o.metric_id AND k.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS exclusive,
    (
      SELECT CASE COUNT(*) WHEN 0 THEN 0.0
        WHEN 1 THEN MAX(CASE WHEN c.metric_id IS NOT NULL THEN c.cumulative WHEN k.cumulative IS NOT NULL THEN 0.0 END) END
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = b.default_metric_id AND k.function_id = e.function_id
      LEFT JOIN function_info AS c ON c.metric_id = m.metric_id AND c.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS base_cumulative,
    (
      SELECT CASE COUNT(*) WHEN 0 THEN 0.0
        WHEN 1 THEN MAX(CASE WHEN c.metric_id IS NOT NULL THEN c.cumulative WHEN k.cumulative IS NOT NULL THEN 0.0 END) END
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = r.default_metric_id AND k.function_id = e.function_id
      LEFT JOIN function_info AS c ON c.metric_id = o.metric_id AND c.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS cumulative,
    (
      SELECT COUNT(*)
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = b.default_metric_id AND k.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS base_functions,
    (
      SELECT COUNT(*)
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id = r.default_metric_id AND k.function_id = e.function_id
      WHERE e.identity_id = d.identity_id
    ) AS functions
  -- CROSS JOIN keeps the planner from starting anywhere but at the two runs.
  FROM runs AS b
  CROSS JOIN runs AS r
  CROSS JOIN metrics AS m ON m.run_id = b.run_id
  CROSS JOIN metrics AS o ON o.run_id = r.run_id AND o.name = m.name AND o.unit = m.unit
  CROSS JOIN function_info AS i ON i.metric_id IN (m.metric_id, o.metric_id)
  CROSS JOIN functions AS f ON f.function_id = i.function_id
  CROSS JOIN identities AS d ON d.identity_id = f.identity_id
  WHERE f.kind IN ('function', 'pseudo')
    -- One row per identity: that of its first figure. Groups would have to be made of all pairs of runs before the first row.
    AND NOT EXISTS (
      SELECT 1
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id IN (m.metric_id, o.metric_id) AND k.function_id = e.function_id
      WHERE e.identity_id = f.identity_id AND (k.metric_id, k.function_id) < (i.metric_id, i.function_id)
    )
) AS x;
