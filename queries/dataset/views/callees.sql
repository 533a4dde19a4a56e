-- Aggregates by key before it joins the names.
SELECT e.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, e.metric AS metric, m.unit AS unit, f.name AS function,
  f.module AS module, f.file AS file, c.name AS callee, c.module AS callee_module, c.file AS callee_file, e.calls AS calls,
  e.cumulative AS cumulative, 100 * e.cumulative / NULLIF(m.total, 0) AS cumulative_pct,
  CASE WHEN e.back = 0 THEN 'call' ELSE 'back' END AS kind,
  CASE WHEN e.back = 0 AND b.callee_key IS NOT NULL THEN 1 ELSE 0 END AS includes_back,
  e.caller_key AS function_key, NULLIF(f.first_line, 0) AS first_line, e.callee_key AS callee_key, NULLIF(c.first_line, 0) AS callee_first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN (
  SELECT d.run_uid, d.metric, d.caller_key, d.callee_key, d.back, CASE WHEN COUNT(*) = COUNT(d.calls) THEN SUM(d.calls) END AS calls,
    CASE WHEN COUNT(*) = COUNT(d.cumulative) THEN SUM(d.cumulative) END AS cumulative
  FROM edges AS d
  WHERE d.caller_key IS NOT NULL
  GROUP BY d.run_uid, d.metric, d.caller_key, d.callee_key, d.back
) AS e ON e.run_uid = m.run_uid AND e.metric = m.metric
JOIN functions AS f ON f.run_uid = e.run_uid AND f.function_key = e.caller_key
JOIN functions AS c ON c.run_uid = e.run_uid AND c.function_key = e.callee_key
LEFT JOIN (SELECT DISTINCT run_uid, metric, callee_key FROM edges WHERE back = 1) AS b
  ON b.run_uid = e.run_uid AND b.metric = e.metric AND b.callee_key = e.callee_key
