CREATE VIEW changes (
  -- Differences between two runs: one row per pair of runs, metric of both, and function of either. Functions are matched
  -- by their identities, across builds. Give base_run_id and run_id as numbers or bound values: with a subquery or a join,
  -- all pairs of runs are compared. Differences of two runs include noise: `profdb diff` separates it from changes.
  base_run_id,         -- number of the base run
  run_id,              -- number of the new run
  metric,              -- name of the metric: time, ticks, samples, alloc
  unit,                -- unit of the costs: ns (nanoseconds), bytes or count
  function,            -- name of the function's identity
  module,              -- its module, package, program or library; '' if unknown
  file,                -- its source file; '' if unknown
  base_calls,          -- number of calls in base; 0 if base does not have it, NULL if unknown
  calls,               -- number of calls; 0 if the run does not have it, NULL if unknown
  base_exclusive,      -- exclusive cost in base, in unit
  exclusive,           -- exclusive cost, in unit
  exclusive_delta,     -- exclusive - base_exclusive, in unit
  base_exclusive_pct,  -- base_exclusive, % of the total of base; NULL if that is 0
  exclusive_pct,       -- exclusive, % of the run's total; NULL if that is 0
  base_cumulative,     -- inclusive cost in base, in unit; NULL if unknown, or if the row has several functions
  cumulative,          -- inclusive cost, in unit; NULL if unknown, or if the row has several functions
  cumulative_delta,    -- cumulative - base_cumulative, in unit; NULL if one of them is NULL
  status,              -- both; new: only the run has the function; gone: only base has it
  functions,           -- maximum number of functions of one run that the row adds up
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
  -- CROSS JOIN makes the planner start at the two runs.
  FROM runs AS b
  CROSS JOIN runs AS r
  CROSS JOIN metrics AS m ON m.run_id = b.run_id
  CROSS JOIN metrics AS o ON o.run_id = r.run_id AND o.name = m.name AND o.unit = m.unit
  CROSS JOIN function_info AS i ON i.metric_id IN (m.metric_id, o.metric_id)
  CROSS JOIN functions AS f ON f.function_id = i.function_id
  CROSS JOIN identities AS d ON d.identity_id = f.identity_id
  WHERE f.kind IN ('function', 'pseudo')
    -- One row per identity, that of its first metric row. GROUP BY would form groups for all pairs of runs before the first
    -- row.
    AND NOT EXISTS (
      SELECT 1
      FROM functions AS e
      CROSS JOIN function_info AS k ON k.metric_id IN (m.metric_id, o.metric_id) AND k.function_id = e.function_id
      WHERE e.identity_id = f.identity_id AND (k.metric_id, k.function_id) < (i.metric_id, i.function_id)
    )
) AS x;
