SELECT i.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, i.metric AS metric, m.unit AS unit,
  ROW_NUMBER() OVER (
    PARTITION BY i.run_uid, i.metric
    ORDER BY i.cumulative DESC NULLS LAST, f.name, f.module, f.file, f.position
  ) AS rank,
  f.name AS function, f.module AS module, f.file AS file, i.calls AS calls, i.cumulative AS cumulative,
  100 * i.cumulative / NULLIF(m.total, 0) AS pct,
  SUM(100 * i.cumulative / NULLIF(m.total, 0)) OVER (
    PARTITION BY i.run_uid, i.metric
    ORDER BY i.cumulative DESC NULLS LAST, f.name, f.module, f.file, f.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS cum_pct,
  i.function_key AS function_key, NULLIF(f.first_line, 0) AS first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN function_info AS i ON i.run_uid = m.run_uid AND i.metric = m.metric
JOIN functions AS f ON f.run_uid = i.run_uid AND f.function_key = i.function_key
WHERE f.kind IN ('function', 'pseudo')
