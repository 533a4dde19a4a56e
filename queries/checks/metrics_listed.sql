-- Metrics of a run that are not numbered from 1 on, and totals of tree runs that are not what the roots add up to. What a
-- file leaves out of its own total is below a root of its own: it may be in the total or not. Where the file contradicts
-- itself, its own total stands, and there is a warning or a note that has both.
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
    SUM(CASE
      WHEN f.kind = 'root' THEN 0
      WHEN t.exclusive < 0 THEN t.cumulative
      ELSE MAX(t.cumulative, t.below)
    END) AS counted,
    1e-6 + 1e-9 * SUM(ABS(t.cumulative)) AS rounding
  FROM (
    SELECT
      t.run_id,
      t.metric,
      t.node_id,
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
  JOIN nodes AS n ON n.node_id = t.node_id
  JOIN functions AS f ON f.function_id = n.function_id
  GROUP BY t.run_id, t.metric
) AS c ON c.run_id = m.run_id AND c.metric = m.name
WHERE r.fidelity = 'tree'
  AND NOT EXISTS (
    SELECT 1
    FROM notes AS n
    WHERE n.run_id = r.run_id AND (n.severity = 'warning' OR n.message GLOB 'the file states a total of *')
  )
  AND ABS(m.total - COALESCE(c.whole, 0)) > COALESCE(c.rounding, 1e-6)
  AND ABS(m.total - COALESCE(c.counted, 0)) > COALESCE(c.rounding, 1e-6)
ORDER BY 1, 2;
