-- Figures of each run by identity, of base and of what is compared, side by side. Ask with base_run_uid and run_uid.
SELECT x.base_run_uid AS base_run_uid, x.run_uid AS run_uid, x.metric AS metric, x.unit AS unit, x.name AS function,
  x.module AS module, x.file AS file,
  CASE WHEN x.base_functions = 0 THEN 0 WHEN x.base_known > 0 THEN x.base_calls END AS base_calls,
  CASE WHEN x.new_functions = 0 THEN 0 WHEN x.new_known > 0 THEN x.new_calls END AS calls,
  x.base_exclusive AS base_exclusive, x.new_exclusive AS exclusive, x.new_exclusive - x.base_exclusive AS exclusive_delta,
  100 * x.base_exclusive / NULLIF(x.base_total, 0) AS base_exclusive_pct,
  100 * x.new_exclusive / NULLIF(x.new_total, 0) AS exclusive_pct,
  CASE x.base_functions WHEN 0 THEN 0.0 WHEN 1 THEN x.base_cumulative END AS base_cumulative,
  CASE x.new_functions WHEN 0 THEN 0.0 WHEN 1 THEN x.new_cumulative END AS cumulative,
  CASE x.new_functions WHEN 0 THEN 0.0 WHEN 1 THEN x.new_cumulative END
    - CASE x.base_functions WHEN 0 THEN 0.0 WHEN 1 THEN x.base_cumulative END AS cumulative_delta,
  CASE WHEN x.base_functions = 0 THEN 'new' WHEN x.new_functions = 0 THEN 'gone' ELSE 'both' END AS status,
  CASE WHEN x.base_functions > x.new_functions THEN x.base_functions ELSE x.new_functions END AS functions,
  x.identity_key AS identity_key
FROM (
  SELECT p.base_run_uid, p.run_uid, p.metric, p.unit, p.base_total, p.new_total, p.identity_key, MIN(p.name) AS name,
    MIN(p.module) AS module, MIN(p.file) AS file,
    SUM(CASE WHEN p.is_base = 1 THEN p.functions ELSE 0 END) AS base_functions,
    SUM(CASE WHEN p.is_base = 0 THEN p.functions ELSE 0 END) AS new_functions,
    SUM(CASE WHEN p.is_base = 1 THEN p.known ELSE 0 END) AS base_known,
    SUM(CASE WHEN p.is_base = 0 THEN p.known ELSE 0 END) AS new_known,
    SUM(CASE WHEN p.is_base = 1 THEN p.calls END) AS base_calls, SUM(CASE WHEN p.is_base = 0 THEN p.calls END) AS new_calls,
    COALESCE(SUM(CASE WHEN p.is_base = 1 THEN p.exclusive END), 0.0) AS base_exclusive,
    COALESCE(SUM(CASE WHEN p.is_base = 0 THEN p.exclusive END), 0.0) AS new_exclusive,
    MAX(CASE WHEN p.is_base = 1 THEN p.cumulative END) AS base_cumulative,
    MAX(CASE WHEN p.is_base = 0 THEN p.cumulative END) AS new_cumulative
  FROM (
    SELECT b.run_uid AS base_run_uid, r.run_uid AS run_uid, b.metric AS metric, b.unit AS unit, b.total AS base_total,
      r.total AS new_total, 1 AS is_base, i.identity_key AS identity_key, i.name AS name, i.module AS module, i.file AS file,
      i.functions AS functions, i.known AS known, i.calls AS calls, i.exclusive AS exclusive, i.cumulative AS cumulative
    FROM metrics AS b
    JOIN metrics AS r ON r.metric = b.metric AND r.unit = b.unit
    JOIN identity_info AS i ON i.run_uid = b.run_uid AND i.metric = b.metric
    UNION ALL
    SELECT b.run_uid AS base_run_uid, r.run_uid AS run_uid, b.metric AS metric, b.unit AS unit, b.total AS base_total,
      r.total AS new_total, 0 AS is_base, i.identity_key AS identity_key, i.name AS name, i.module AS module, i.file AS file,
      i.functions AS functions, i.known AS known, i.calls AS calls, i.exclusive AS exclusive, i.cumulative AS cumulative
    FROM metrics AS b
    JOIN metrics AS r ON r.metric = b.metric AND r.unit = b.unit
    JOIN identity_info AS i ON i.run_uid = r.run_uid AND i.metric = r.metric
  ) AS p
  GROUP BY p.base_run_uid, p.run_uid, p.metric, p.unit, p.base_total, p.new_total, p.identity_key
) AS x
