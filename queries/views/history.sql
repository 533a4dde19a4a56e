CREATE VIEW history (
  -- What functions cost from run to run: one row per run, metric and function. Functions are one where their identities are,
  -- whatever the build. ORDER BY position, recorded_utc, run_id.
  run_id,          -- number of the run
  position,        -- its tag commit_count as a number; NULL without one
  commit_id,       -- its tag commit; NULL without one
  branch,          -- its tag branch; NULL without one
  host,            -- its tag host; NULL without one
  recorded_at,     -- when it was recorded, as the file says it; NULL if unknown
  metric,          -- what was measured: time, ticks, samples, alloc
  unit,            -- unit of the costs: ns (nanoseconds), bytes or count
  function,        -- name of the function, after the rules of identities
  module,          -- its module, package, program or library; '' if unknown
  file,            -- its source file; '' if unknown
  calls,           -- how often it was called; NULL if unknown
  exclusive,       -- cost of the function itself, in unit
  exclusive_pct,   -- the same, % of the run's total; NULL if the total is 0
  cumulative,      -- cost with what it called, in unit; NULL if unknown, or of several functions
  cumulative_pct,  -- the same, % of the run's total; NULL if unknown, or if the total is 0
  total,           -- cost of the whole run, in unit
  functions,       -- how many functions of the run are added up in the row
  identity_id,     -- its number in table identities
  recorded_utc     -- recorded_at in UTC, in a form whose order is that in time; NULL if unknown
) AS
SELECT
  r.run_id,
  (SELECT CAST(t.value AS INTEGER) FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit_count'),
  (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit'),
  (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'branch'),
  (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'host'),
  r.recorded_at,
  m.name,
  m.unit,
  d.name,
  d.module,
  d.file,
  CASE COUNT(*) WHEN COUNT(i.calls) THEN SUM(i.calls / 4294967296) * 4294967296 + SUM(i.calls % 4294967296) END,
  TOTAL(i.exclusive),
  100 * TOTAL(i.exclusive) / NULLIF(m.total, 0),
  CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative) END,
  100 * CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative) END / NULLIF(m.total, 0),
  m.total,
  COUNT(*),
  d.identity_id,
  r.recorded_utc
FROM identities AS d
CROSS JOIN functions AS f ON f.identity_id = d.identity_id
CROSS JOIN runs AS r
CROSS JOIN metrics AS m ON m.run_id = r.run_id
CROSS JOIN function_info AS i ON i.metric_id = m.metric_id AND i.function_id = f.function_id
WHERE f.kind IN ('function', 'pseudo')
-- The columns of identities, runs and metrics are there so that a question for one function reads that alone.
GROUP BY d.identity_id, d.name, d.module, d.file, r.run_id, r.recorded_at, r.recorded_utc, m.name, m.unit, m.total;
