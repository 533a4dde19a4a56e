SELECT r.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, r.format AS format, r.fidelity AS fidelity,
  r.imported_at AS imported_at, COALESCE(a.metrics, 0) AS metrics, r.functions AS functions, r.nodes AS nodes, m.total AS total,
  m.unit AS unit
FROM runs AS r
LEFT JOIN metrics AS m ON m.run_uid = r.run_uid AND m.metric = r.default_metric
LEFT JOIN (SELECT run_uid, COUNT(*) AS metrics FROM metrics GROUP BY run_uid) AS a ON a.run_uid = r.run_uid
