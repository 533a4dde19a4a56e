-- Functions of runs with trees whose totals differ from the sums of their nodes, and functions with a cost but without totals.
-- Totals that the file states are not checked.
WITH counted AS (
  SELECT
    m.metric_id,
    n.function_id,
    CASE COUNT(*) WHEN COUNT(t.calls) THEN SUM(t.calls / 4294967296) * 4294967296 + SUM(t.calls % 4294967296) END AS calls,
    CASE COUNT(CASE WHEN t.outer_id IS NULL THEN 1 END)
      WHEN COUNT(CASE WHEN t.outer_id IS NULL THEN t.calls END)
      THEN SUM(CASE WHEN t.outer_id IS NULL THEN t.calls / 4294967296 ELSE 0 END) * 4294967296
        + SUM(CASE WHEN t.outer_id IS NULL THEN t.calls % 4294967296 ELSE 0 END)
    END AS primitive,
    SUM(t.exclusive) AS exclusive,
    SUM(CASE WHEN t.outer_id IS NULL THEN t.cumulative ELSE 0 END) AS cumulative,
    SUM(t.cumulative) AS seen,
    1e-6 + 1e-9 * SUM(ABS(t.exclusive) + ABS(t.cumulative)) AS rounding
  FROM tree AS t
  JOIN metrics AS m ON m.run_id = t.run_id AND m.name = t.metric
  JOIN nodes AS n ON n.node_id = t.node_id
  WHERE t.line IS NULL
  GROUP BY m.metric_id, n.function_id
)
SELECT i.metric_id, i.function_id
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN function_info AS i ON i.metric_id = m.metric_id
LEFT JOIN counted AS c ON c.metric_id = i.metric_id AND c.function_id = i.function_id
WHERE r.fidelity = 'tree'
  AND i.recorded <> 1
  AND (
    i.calls IS NOT c.calls
    OR i.primitive IS NOT c.primitive
    OR (i.exclusive IS NULL) <> (c.exclusive IS NULL)
    OR (i.cumulative IS NULL) <> (c.cumulative IS NULL)
    OR (i.seen IS NULL) <> (c.seen IS NULL)
    OR ABS(i.exclusive - c.exclusive) > c.rounding
    OR ABS(i.cumulative - c.cumulative) > c.rounding
    OR ABS(i.seen - c.seen) > c.rounding
  )
UNION ALL
SELECT c.metric_id, c.function_id
FROM counted AS c
LEFT JOIN function_info AS i ON i.metric_id = c.metric_id AND i.function_id = c.function_id
WHERE i.function_id IS NULL AND (c.exclusive <> 0 OR c.cumulative <> 0 OR c.seen <> 0)
ORDER BY 1, 2;
