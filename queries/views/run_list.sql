CREATE VIEW run_list (
  -- The imported runs, one row each.
  run_id,       -- number of the run
  run,          -- its title, or the name of its file
  format,       -- format of its file
  fidelity,     -- detail of the file: tree (paths), edges (callers and callees), flat (totals only)
  imported_at,  -- time of the import, UTC
  metrics,      -- number of metrics
  functions,    -- number of its functions without containers
  nodes,        -- number of its nodes
  total,        -- cost of the whole run in its default metric, in unit
  unit          -- unit of the total: ns, bytes or count
) AS
SELECT
  r.run_id,
  COALESCE(r.title, r.source_name),
  r.format,
  r.fidelity,
  r.imported_at,
  (SELECT COUNT(*) FROM metrics AS all_of_it WHERE all_of_it.run_id = r.run_id),
  r.functions,
  COALESCE(r.last_node - r.first_node + 1, 0),
  m.total,
  m.unit
FROM runs AS r
LEFT JOIN metrics AS m ON m.metric_id = r.default_metric_id;
