-- A run without its tags.
SELECT r.title, r.format, r.fidelity, r.source_name, r.source_sha256, r.source_bytes, r.tool_version, r.command, r.recorded_at,
  r.recorded_utc, r.imported_at, r.timer_bias, r.bias_applied, m.name AS default_metric,
  COALESCE(r.last_node - r.first_node + 1, 0) AS nodes, r.functions, NULLIF(lower(hex(r.fingerprint)), '') AS fingerprint,
  (SELECT lower(hex(digest)) FROM identity_digests) AS identity_rules, r.profdb_version, r.run_id AS run_number
FROM runs AS r
LEFT JOIN metrics AS m ON m.metric_id = r.default_metric_id
WHERE r.run_id = :run;
