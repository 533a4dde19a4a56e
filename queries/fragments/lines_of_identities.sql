-- Lines of identities instead of lines of functions.

-- Lines of functions with the same identity form a group. Their inclusive costs may overlap.
lines_of_identities AS (
  SELECT MIN(i.function_id) AS function_id, i.file, i.line, i.col,
    CASE COUNT(*) WHEN COUNT(i.calls) THEN SUM(i.calls / 4294967296) * 4294967296 + SUM(i.calls % 4294967296) END AS calls,
    CASE COUNT(*) WHEN COUNT(i.exclusive) THEN SUM(i.exclusive) END AS exclusive,
    CASE COUNT(*) WHEN 1 THEN MAX(i.cumulative) END AS cumulative
  FROM line_costs AS i CROSS JOIN functions AS f
  WHERE f.function_id = i.function_id
  GROUP BY f.identity_id, i.file, i.line, i.col
)
