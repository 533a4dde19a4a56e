-- Costs of two runs side by side, by identity. Select base_run_uid and run_uid. The default metric has all functions, other
-- metrics those with a cost; so the default metric shows which functions a run has.
SELECT x.base_run_uid AS base_run_uid, x.run_uid AS run_uid, x.metric AS metric, x.unit AS unit, x.name AS function,
  x.module AS module, x.file AS file,
  CASE WHEN b.functions IS NULL THEN 0 WHEN b.known > 0 THEN b.calls END AS base_calls,
  CASE WHEN n.functions IS NULL THEN 0 WHEN n.known > 0 THEN n.calls END AS calls,
  x.base_exclusive AS base_exclusive, x.new_exclusive AS exclusive, x.new_exclusive - x.base_exclusive AS exclusive_delta,
  100 * x.base_exclusive / NULLIF(x.base_total, 0) AS base_exclusive_pct,
  100 * x.new_exclusive / NULLIF(x.new_total, 0) AS exclusive_pct,
  CASE WHEN b.functions IS NULL OR (x.base_functions = 0 AND b.functions = 1 AND b.cumulative IS NOT NULL) THEN 0.0
    WHEN b.functions = 1 THEN x.base_cumulative END AS base_cumulative,
  CASE WHEN n.functions IS NULL OR (x.new_functions = 0 AND n.functions = 1 AND n.cumulative IS NOT NULL) THEN 0.0
    WHEN n.functions = 1 THEN x.new_cumulative END AS cumulative,
  CASE WHEN n.functions IS NULL OR (x.new_functions = 0 AND n.functions = 1 AND n.cumulative IS NOT NULL) THEN 0.0
    WHEN n.functions = 1 THEN x.new_cumulative END
    - CASE WHEN b.functions IS NULL OR (x.base_functions = 0 AND b.functions = 1 AND b.cumulative IS NOT NULL) THEN 0.0
      WHEN b.functions = 1 THEN x.base_cumulative END AS cumulative_delta,
  CASE WHEN b.functions IS NULL THEN 'new' WHEN n.functions IS NULL THEN 'gone' ELSE 'both' END AS status,
  CASE WHEN COALESCE(b.functions, 0) > COALESCE(n.functions, 0) THEN b.functions ELSE n.functions END AS functions,
  x.identity_key AS identity_key
FROM (
  SELECT p.base_run_uid, p.run_uid, p.metric, p.unit, p.base_total, p.new_total, p.identity_key, MIN(p.name) AS name,
    MIN(p.module) AS module, MIN(p.file) AS file,
    SUM(CASE WHEN p.is_base = 1 THEN p.functions ELSE 0 END) AS base_functions,
    SUM(CASE WHEN p.is_base = 0 THEN p.functions ELSE 0 END) AS new_functions,
    COALESCE(SUM(CASE WHEN p.is_base = 1 THEN p.exclusive END), 0.0) AS base_exclusive,
    COALESCE(SUM(CASE WHEN p.is_base = 0 THEN p.exclusive END), 0.0) AS new_exclusive,
    MAX(CASE WHEN p.is_base = 1 THEN p.cumulative END) AS base_cumulative,
    MAX(CASE WHEN p.is_base = 0 THEN p.cumulative END) AS new_cumulative
  FROM (
    SELECT b.run_uid AS base_run_uid, r.run_uid AS run_uid, b.metric AS metric, b.unit AS unit, b.total AS base_total,
      r.total AS new_total, 1 AS is_base, i.identity_key AS identity_key, i.name AS name, i.module AS module, i.file AS file,
      i.functions AS functions, i.exclusive AS exclusive, i.cumulative AS cumulative
    FROM metrics AS b
    JOIN metrics AS r ON r.metric = b.metric AND r.unit = b.unit
    JOIN identity_info AS i ON i.run_uid = b.run_uid AND i.metric = b.metric
    UNION ALL
    SELECT b.run_uid AS base_run_uid, r.run_uid AS run_uid, b.metric AS metric, b.unit AS unit, b.total AS base_total,
      r.total AS new_total, 0 AS is_base, i.identity_key AS identity_key, i.name AS name, i.module AS module, i.file AS file,
      i.functions AS functions, i.exclusive AS exclusive, i.cumulative AS cumulative
    FROM metrics AS b
    JOIN metrics AS r ON r.metric = b.metric AND r.unit = b.unit
    JOIN identity_info AS i ON i.run_uid = r.run_uid AND i.metric = r.metric
  ) AS p
  GROUP BY p.base_run_uid, p.run_uid, p.metric, p.unit, p.base_total, p.new_total, p.identity_key
) AS x
JOIN runs AS p ON p.run_uid = x.base_run_uid
JOIN runs AS r ON r.run_uid = x.run_uid
LEFT JOIN identity_info AS b ON b.run_uid = p.run_uid AND b.metric = p.default_metric AND b.identity_key = x.identity_key
LEFT JOIN identity_info AS n ON n.run_uid = r.run_uid AND n.metric = r.default_metric AND n.identity_key = x.identity_key
