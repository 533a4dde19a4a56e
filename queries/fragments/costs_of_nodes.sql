-- Costs of functions and lines as sums of nodes.

-- Costs of functions in subtrees. A node below another node of the same function adds no inclusive cost.
function_costs AS (
  SELECT n.function_id,
    CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls / 4294967296) * 4294967296 + SUM(n.calls % 4294967296) END AS calls,
    SUM(n.exclusive) AS exclusive,
    SUM(IIF(n.outer_id >= $top, 0.0, n.cumulative)) AS cumulative, SUM(n.cumulative) AS seen
  FROM $selected_nodes
  WHERE $in_selection AND n.line IS NULL
  GROUP BY n.function_id
)

-- Costs of lines in subtrees.
line_costs AS (
  SELECT n.function_id, COALESCE(n.file, '') AS file, n.line, COALESCE(n.col, 0) AS col,
    CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls / 4294967296) * 4294967296 + SUM(n.calls % 4294967296) END AS calls,
    SUM(n.exclusive) AS exclusive,
    CASE COUNT(*) WHEN COUNT(n.cumulative) THEN SUM(IIF(n.outer_id >= $top, 0.0, n.cumulative)) END AS cumulative
  FROM $selected_nodes
  WHERE $in_selection AND n.line IS NOT NULL
  GROUP BY n.function_id, COALESCE(n.file, ''), n.line, COALESCE(n.col, 0)
)

-- Costs of functions and lines in subtrees. A node below another node of the same function or line adds no inclusive cost.
element_costs AS (
  SELECT n.function_id, CASE WHEN n.line IS NULL THEN '' ELSE COALESCE(n.file, '') END AS line_file, n.line,
    COALESCE(n.col, 0) AS col,
    CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls / 4294967296) * 4294967296 + SUM(n.calls % 4294967296) END AS calls,
    SUM(n.exclusive) AS exclusive,
    CASE WHEN n.line IS NULL OR COUNT(*) = COUNT(n.cumulative)
      THEN SUM(CASE WHEN n.outer_id >= $top THEN 0.0 ELSE n.cumulative END) END AS cumulative,
    $readings_of_nodes
  FROM $selected_nodes
  WHERE $in_selection
  GROUP BY n.function_id, n.line, COALESCE(n.col, 0), CASE WHEN n.line IS NULL THEN '' ELSE COALESCE(n.file, '') END
)
