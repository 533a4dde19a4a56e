-- Edges of runs with trees whose costs differ from the sums of their nodes, edges without nodes, and nodes without an edge.
WITH RECURSIVE
-- The caller: the nearest node above that is not a container.
ancestor_walk (node_id, at_id) AS (
  SELECT n.node_id, n.parent_id
  FROM nodes AS n
  JOIN functions AS f ON f.function_id = n.function_id
  WHERE n.line IS NULL AND f.kind IN ('function', 'pseudo')
  UNION ALL
  SELECT c.node_id, n.parent_id
  FROM ancestor_walk AS c
  JOIN nodes AS n ON n.node_id = c.at_id
  JOIN functions AS f ON f.function_id = n.function_id
  WHERE f.kind NOT IN ('function', 'pseudo') AND (n.parent_id IS NULL OR n.parent_id < n.node_id)
),
called AS (
  SELECT
    r.run_id,
    n.node_id,
    n.last_id,
    n.outer_id,
    n.function_id AS callee_id,
    COALESCE(p.function_id, 0) AS caller_id,
    COALESCE(p.file, '') AS line_file,
    COALESCE(p.line, -1) AS caller_line,
    COALESCE(p.col, 0) AS caller_col
  FROM ancestor_walk AS c
  JOIN nodes AS n ON n.node_id = c.node_id
  JOIN runs AS r ON n.node_id BETWEEN r.first_node AND r.last_node
  LEFT JOIN nodes AS p ON p.node_id = c.at_id
  LEFT JOIN functions AS f ON f.function_id = p.function_id
  WHERE r.fidelity = 'tree' AND (p.node_id IS NULL OR f.kind IN ('function', 'pseudo'))
),
paired AS (
  SELECT
    c.run_id,
    c.node_id,
    c.callee_id,
    c.caller_id,
    c.line_file,
    c.caller_line,
    c.caller_col,
    -- No enclosing node has the same caller and callee.
    COALESCE(
      MAX(c.last_id) OVER (
        PARTITION BY c.run_id, c.callee_id, c.caller_id
        ORDER BY c.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) < c.node_id AS is_outer_pair
  FROM called AS c
),
counted AS (
  SELECT
    m.metric_id,
    p.callee_id,
    p.caller_id,
    p.line_file,
    p.caller_line,
    p.caller_col,
    CASE COUNT(*) WHEN COUNT(t.calls) THEN SUM(t.calls / 4294967296) * 4294967296 + SUM(t.calls % 4294967296) END AS calls,
    SUM(t.exclusive) AS exclusive,
    SUM(CASE WHEN p.is_outer_pair THEN t.cumulative ELSE 0 END) AS cumulative,
    SUM(CASE WHEN t.outer_id IS NULL THEN t.cumulative ELSE 0 END) AS outermost,
    SUM(t.cumulative) AS seen,
    1e-6 + 1e-9 * SUM(ABS(t.exclusive) + ABS(t.cumulative)) AS rounding
  FROM paired AS p
  JOIN tree AS t ON t.run_id = p.run_id AND t.node_id = p.node_id
  JOIN metrics AS m ON m.run_id = t.run_id AND m.name = t.metric
  GROUP BY m.metric_id, p.callee_id, p.caller_id, p.line_file, p.caller_line, p.caller_col
)
SELECT e.metric_id, e.callee_id, e.caller_id, e.caller_line, e.caller_col, e.line_file
FROM runs AS r
JOIN metrics AS m ON m.run_id = r.run_id
JOIN edges AS e ON e.metric_id = m.metric_id
LEFT JOIN counted AS c ON c.metric_id = e.metric_id
                      AND c.callee_id = e.callee_id
                      AND c.caller_id = e.caller_id
                      AND c.line_file = e.line_file
                      AND c.caller_line = e.caller_line
                      AND c.caller_col = e.caller_col
WHERE r.fidelity = 'tree'
  AND e.back = 0
  AND (
    c.callee_id IS NULL
    OR e.calls IS NOT c.calls
    OR COALESCE(ABS(e.exclusive - c.exclusive), 9e999) > c.rounding
    OR COALESCE(ABS(e.cumulative - c.cumulative), 9e999) > c.rounding
    OR COALESCE(ABS(e.outermost - c.outermost), 9e999) > c.rounding
    OR COALESCE(ABS(e.seen - c.seen), 9e999) > c.rounding
  )
UNION ALL
SELECT c.metric_id, c.callee_id, c.caller_id, c.caller_line, c.caller_col, c.line_file
FROM counted AS c
LEFT JOIN edges AS e ON e.metric_id = c.metric_id
                    AND e.callee_id = c.callee_id
                    AND e.caller_id = c.caller_id
                    AND e.line_file = c.line_file
                    AND e.caller_line = c.caller_line
                    AND e.caller_col = c.caller_col
                    AND e.back = 0
WHERE e.callee_id IS NULL
ORDER BY 1, 2, 3, 4, 5, 6;
