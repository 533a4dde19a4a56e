-- Metrics of a run that are not numbered from 1 on, and totals of tree runs that are not what the roots add up to, unless
-- the file itself states them.
SELECT m.run_id, NULL AS metric_id
FROM metrics AS m
GROUP BY m.run_id
HAVING MIN(m.position) <> 1 OR MAX(m.position) <> COUNT(*)
UNION ALL
SELECT m.run_id, m.metric_id
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
LEFT JOIN (
  SELECT
    t.run_id,
    t.metric,
    SUM(CASE WHEN t.exclusive < 0 THEN t.cumulative ELSE MAX(t.cumulative, t.below) END) AS whole,
    1e-6 + 1e-9 * SUM(ABS(t.cumulative)) AS rounding
  FROM (
    SELECT
      t.run_id,
      t.metric,
      t.exclusive,
      t.cumulative,
      -- What a root called, through its lines or not.
      COALESCE((
        SELECT SUM(b.cumulative)
        FROM tree AS b
        JOIN nodes AS p ON p.node_id = b.parent_id
        WHERE b.run_id = t.run_id
          AND b.metric = t.metric
          AND b.node_id > t.node_id
          AND b.node_id <= t.last_id
          AND b.line IS NULL
          AND (b.depth = 1 OR b.depth = 2 AND p.line IS NOT NULL)
      ), 0) AS below
    FROM tree AS t
    WHERE t.depth = 0
  ) AS t
  GROUP BY t.run_id, t.metric
) AS c ON c.run_id = m.run_id AND c.metric = m.name
WHERE r.fidelity = 'tree'
  AND m.total_source = 'counted'
  AND ABS(m.total - COALESCE(c.whole, 0)) > COALESCE(c.rounding, 1e-6)
ORDER BY 1, 2;
