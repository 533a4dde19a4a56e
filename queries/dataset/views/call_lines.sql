SELECT e.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, e.metric AS metric, m.unit AS unit, f.name AS function,
  f.module AS module, f.file AS file, c.name AS caller, c.module AS caller_module, c.file AS caller_file,
  NULLIF(e.caller_line, -1) AS caller_line, NULLIF(e.caller_col, 0) AS caller_col, e.calls AS calls, e.exclusive AS exclusive,
  e.outermost AS cumulative, 100 * e.outermost / NULLIF(m.total, 0) AS cumulative_pct,
  CASE WHEN e.back = 0 THEN 'call' ELSE 'back' END AS kind,
  CASE WHEN e.back = 0 AND b.callee_key IS NOT NULL THEN 1 ELSE 0 END AS includes_back,
  NULLIF(e.line_file, '') AS line_file,
  e.callee_key AS function_key, NULLIF(f.first_line, 0) AS first_line, e.caller_key AS caller_key, NULLIF(c.first_line, 0) AS caller_first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN edges AS e ON e.run_uid = m.run_uid AND e.metric = m.metric
JOIN functions AS f ON f.run_uid = e.run_uid AND f.function_key = e.callee_key
LEFT JOIN functions AS c ON c.run_uid = e.run_uid AND c.function_key = e.caller_key
LEFT JOIN (SELECT DISTINCT run_uid, metric, callee_key FROM edges WHERE back = 1) AS b
  ON b.run_uid = e.run_uid AND b.metric = e.metric AND b.callee_key = e.callee_key
