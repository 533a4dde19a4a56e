CREATE VIEW history (
  -- Costs of functions from run to run: one row per run, metric and function. Functions are matched by their identities,
  -- across builds. ORDER BY position, recorded_utc, run_id.
  run_id,          -- number of the run
  position,        -- its tag commit_count if it is an integer of at most 64 bits; else NULL
  commit_id,       -- its tag commit; NULL without one
  branch,          -- its tag branch; NULL without one
  host,            -- its tag host; NULL without one
  recorded_at,     -- time of the recording, as stated by the file; NULL if unknown
  metric,          -- name of the metric: time, ticks, samples, alloc
  unit,            -- unit of the costs: ns (nanoseconds), bytes or count
  function,        -- name of the function's identity
  module,          -- its module, package, program or library; '' if unknown
  file,            -- its source file; '' if unknown
  calls,           -- number of calls; NULL if unknown
  exclusive,       -- exclusive cost, in unit
  exclusive_pct,   -- exclusive, % of the run's total; NULL if the total is 0
  cumulative,      -- inclusive cost, in unit; NULL if unknown, or if the row has several functions
  cumulative_pct,  -- cumulative, % of the run's total; NULL if unknown, or if the total is 0
  total,           -- cost of the whole run, in unit
  functions,       -- number of functions of the run that the row adds up
  identity_id,     -- its number in table identities
  recorded_utc     -- recorded_at in UTC, in a form that sorts by time; NULL if unknown
) AS
SELECT
  r.run_id,
  (
    SELECT CAST(t.value AS INTEGER)
    FROM run_tags AS t
    WHERE t.run_id = r.run_id AND t.key = 'commit_count' AND t.value <> '' AND t.value NOT GLOB '*[^0-9]*'
      -- Casts a number of more than 64 bits to the largest integer.
      AND ltrim(t.value, '0') IN ('', CAST(CAST(t.value AS INTEGER) AS TEXT))
  ),
  (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit'),
  (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'branch'),
  (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'host'),
  r.recorded_at,
  m.name,
  m.unit,
  d.name,
  d.module,
  d.file,
  (
    SELECT CASE COUNT(*) WHEN COUNT(k.calls) THEN SUM(k.calls / 4294967296) * 4294967296 + SUM(k.calls % 4294967296) END
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = d.identity_id
  ),
  (
    SELECT TOTAL(k.exclusive)
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = d.identity_id
  ),
  100 * (
    SELECT TOTAL(k.exclusive)
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = d.identity_id
  ) / NULLIF(m.total, 0),
  (
    SELECT CASE COUNT(*) WHEN 1 THEN MAX(k.cumulative) END
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = d.identity_id
  ),
  100 * (
    SELECT CASE COUNT(*) WHEN 1 THEN MAX(k.cumulative) END
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = d.identity_id
  ) / NULLIF(m.total, 0),
  m.total,
  (
    SELECT COUNT(*)
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = d.identity_id
  ),
  d.identity_id,
  r.recorded_utc
FROM identities AS d
CROSS JOIN functions AS f ON f.identity_id = d.identity_id
CROSS JOIN runs AS r
CROSS JOIN metrics AS m ON m.run_id = r.run_id
CROSS JOIN function_info AS i ON i.metric_id = m.metric_id AND i.function_id = f.function_id
WHERE f.kind IN ('function', 'pseudo')
  -- One row per identity, that of its first function. GROUP BY would form groups for all runs before the first row.
  AND NOT EXISTS (
    SELECT 1
    FROM functions AS e
    CROSS JOIN function_info AS k ON k.metric_id = m.metric_id AND k.function_id = e.function_id
    WHERE e.identity_id = f.identity_id AND e.function_id < f.function_id
  );
