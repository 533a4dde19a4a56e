SELECT n.run_uid AS run_uid, m.metric AS metric, t.name AS top, t.kind AS top_kind, t.module AS top_module, t.file AS top_file,
  o.node_id AS top_id, n.node_id AS node_id,
  CASE WHEN n.outer_id IS NULL OR n.outer_id < o.node_id THEN 1 ELSE 0 END AS is_outermost, n.depth AS depth, f.name AS function,
  f.module AS module, f.file AS file, f.kind AS kind, n.calls AS calls,
  CASE WHEN m.metric = r.default_metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END AS exclusive,
  CASE WHEN m.metric = r.default_metric THEN n.cumulative WHEN c.node_id IS NULL THEN 0.0 ELSE c.cumulative END AS cumulative,
  n.function_key AS function_key, NULLIF(f.first_line, 0) AS first_line, o.function_key AS top_function_key, NULLIF(t.first_line, 0) AS top_first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN nodes AS o ON o.run_uid = r.run_uid AND o.outer_id IS NULL AND o.line IS NULL
JOIN nodes AS n ON n.run_uid = o.run_uid AND n.line IS NULL AND n.node_id >= o.node_id AND n.node_id <= o.last_id
JOIN functions AS t ON t.run_uid = o.run_uid AND t.function_key = o.function_key
JOIN functions AS f ON f.run_uid = n.run_uid AND f.function_key = n.function_key
LEFT JOIN node_costs AS c ON c.run_uid = n.run_uid AND c.metric = m.metric AND c.node_id = n.node_id
