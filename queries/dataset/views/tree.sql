SELECT n.run_uid AS run_uid, m.metric AS metric, n.node_id AS node_id, n.parent_id AS parent_id, n.last_id AS last_id,
  n.outer_id AS outer_id, n.depth AS depth, f.name AS function, f.module AS module, COALESCE(n.file, f.file) AS file,
  n.line AS line, n.col AS col, n.calls AS calls,
  CASE WHEN m.metric = r.default_metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END AS exclusive,
  CASE WHEN m.metric = r.default_metric THEN n.cumulative WHEN c.node_id IS NULL THEN 0.0 ELSE c.cumulative END AS cumulative,
  f.kind AS kind,
  n.function_key AS function_key, NULLIF(f.first_line, 0) AS first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN nodes AS n ON n.run_uid = r.run_uid
JOIN functions AS f ON f.run_uid = n.run_uid AND f.function_key = n.function_key
LEFT JOIN node_costs AS c ON c.run_uid = n.run_uid AND c.metric = m.metric AND c.node_id = n.node_id
