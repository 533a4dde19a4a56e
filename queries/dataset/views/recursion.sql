SELECT t.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, f.name AS function, f.module AS module, f.file AS file,
  h.levels AS levels, COALESCE(p.places, 0) AS places, COALESCE(p.nested, 0) AS nested, t.function_key AS function_key,
  NULLIF(f.first_line, 0) AS first_line
FROM runs AS r
JOIN function_info AS t ON t.run_uid = r.run_uid AND t.metric = r.default_metric
JOIN functions AS f ON f.run_uid = t.run_uid AND f.function_key = t.function_key
LEFT JOIN (
  SELECT n.run_uid, n.function_key, COUNT(*) AS places, COUNT(n.outer_id) AS nested
  FROM nodes AS n
  WHERE n.line IS NULL
  GROUP BY n.run_uid, n.function_key
) AS p ON p.run_uid = t.run_uid AND p.function_key = t.function_key
-- Nodes in pre-order as pairs of an opening and a closing bracket. Both come from one scan of the nodes: Spark 4's optimizer
-- (RemoveRedundantAliases) fails on a union of two scans.
LEFT JOIN (
  SELECT o.run_uid, o.function_key, MAX(o.calls) AS levels
  FROM (
    SELECT b.run_uid, b.function_key, SUM(b.step) OVER (
        PARTITION BY b.run_uid, b.function_key ORDER BY b.place, b.step DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS calls
    FROM (
      SELECT n.run_uid, n.function_key, CASE WHEN s.step = 1 THEN n.node_id ELSE n.last_id END AS place, s.step
      FROM nodes AS n
      CROSS JOIN (SELECT 1 AS step UNION ALL SELECT -1 AS step) AS s
      WHERE n.line IS NULL
    ) AS b
  ) AS o
  GROUP BY o.run_uid, o.function_key
) AS h ON h.run_uid = t.run_uid AND h.function_key = t.function_key
WHERE r.fidelity = 'tree' AND f.kind IN ('function', 'pseudo')
