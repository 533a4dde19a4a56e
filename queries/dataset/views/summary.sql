SELECT i.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, i.metric AS metric, m.unit AS unit, f.name AS function,
  f.module AS module, f.file AS file, f.kind AS kind, i.calls AS calls, i.exclusive AS exclusive,
  100 * i.exclusive / NULLIF(m.total, 0) AS exclusive_pct, i.cumulative AS cumulative,
  100 * i.cumulative / NULLIF(m.total, 0) AS cumulative_pct, i.exclusive / NULLIF(CAST(i.calls AS DOUBLE), 0) AS exclusive_avg,
  i.cumulative / NULLIF(CAST(i.calls AS DOUBLE), 0) AS cumulative_avg, i.seen AS seen, i.function_key AS function_key,
  NULLIF(f.first_line, 0) AS first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN function_info AS i ON i.run_uid = m.run_uid AND i.metric = m.metric
JOIN functions AS f ON f.run_uid = i.run_uid AND f.function_key = i.function_key
WHERE f.kind IN ('function', 'pseudo')
