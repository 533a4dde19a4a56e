-- Lines of runs with trees whose totals differ from the sums of their nodes, and lines without totals. Totals that the file
-- states are not checked.
WITH counted AS (
  SELECT
    r.default_metric_id = m.metric_id AS is_default,
    m.metric_id,
    n.function_id,
    COALESCE(n.file, '') AS file,
    n.line,
    COALESCE(n.col, 0) AS col,
    CASE COUNT(*) WHEN COUNT(t.calls) THEN SUM(t.calls / 4294967296) * 4294967296 + SUM(t.calls % 4294967296) END AS calls,
    SUM(t.exclusive) AS exclusive,
    CASE COUNT(*)
      WHEN COUNT(t.cumulative) THEN SUM(CASE WHEN t.outer_id IS NULL THEN t.cumulative ELSE 0 END)
    END AS cumulative,
    1e-6 + 1e-9 * SUM(ABS(t.exclusive) + COALESCE(ABS(t.cumulative), 0)) AS rounding
  FROM tree AS t
  JOIN runs AS r ON r.run_id = t.run_id
  JOIN metrics AS m ON m.run_id = t.run_id AND m.name = t.metric
  JOIN nodes AS n ON n.node_id = t.node_id
  WHERE t.line IS NOT NULL
  GROUP BY m.metric_id, n.function_id, COALESCE(n.file, ''), n.line, COALESCE(n.col, 0)
)
SELECT i.metric_id, i.function_id, i.line, i.col
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN line_info AS i ON i.metric_id = m.metric_id
LEFT JOIN counted AS c ON c.metric_id = i.metric_id
                      AND c.function_id = i.function_id
                      AND c.file = i.file
                      AND c.line = i.line
                      AND c.col = i.col
WHERE r.fidelity = 'tree'
  AND i.recorded <> 1
  AND (
    c.metric_id IS NULL
    OR i.calls IS NOT c.calls
    OR i.exclusive IS NULL
    OR ABS(i.exclusive - c.exclusive) > c.rounding
    OR (i.cumulative IS NULL) <> (c.cumulative IS NULL)
    OR ABS(i.cumulative - c.cumulative) > c.rounding
  )
UNION ALL
SELECT c.metric_id, c.function_id, c.line, c.col
FROM counted AS c
LEFT JOIN line_info AS i ON i.metric_id = c.metric_id
                        AND i.function_id = c.function_id
                        AND i.file = c.file
                        AND i.line = c.line
                        AND i.col = c.col
WHERE i.metric_id IS NULL AND (c.is_default OR c.exclusive <> 0 OR c.cumulative <> 0)
ORDER BY 1, 2, 3, 4;
