-- Lines of identities instead of lines of functions, in runs with paths.

-- Lines of functions with the same identity form a group. The inclusive cost of a node counts if no enclosing node has the same line.
lines_of_identities AS (
  SELECT MIN(function_id) AS function_id, file, line, col,
    CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls / 4294967296) * 4294967296 + SUM(calls % 4294967296) END AS calls,
    SUM(exclusive) AS exclusive,
    CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(IIF(node_id <= reached, 0.0, cumulative)) END AS cumulative
  FROM (
    SELECT f.identity_id, n.function_id, COALESCE(n.file, '') AS file, n.line, COALESCE(n.col, 0) AS col, n.node_id, n.calls,
      n.exclusive, n.cumulative, MAX(n.last_id) OVER (
        PARTITION BY f.identity_id, COALESCE(n.file, ''), n.line, COALESCE(n.col, 0)
        ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached
    FROM $selected_nodes CROSS JOIN functions AS f
    WHERE $in_selection AND n.line IS NOT NULL AND f.function_id = n.function_id
  )
  GROUP BY identity_id, file, line, col
)
