-- The selection as nodes, with the calls from and to it.

-- The cost of all selected nodes.
selected AS (
  SELECT COALESCE(SUM(s.cumulative), 0.0) AS cost FROM subtrees AS s WHERE s.outermost
)

-- Callers of the selected nodes. Containers (threads, roots) are not callers: their calls come from the root.
callers_of_selection AS (
  SELECT COALESCE(c.function_id, 0) AS caller_id, IIF(c.function_id IS NULL, NULL, above.file) AS line_file,
    IIF(c.function_id IS NULL, NULL, above.line) AS line, IIF(c.function_id IS NULL, NULL, above.col) AS col, 'call' AS kind, s.calls, s.exclusive,
    IIF(s.outermost, s.cumulative, 0.0) AS cumulative
  FROM subtrees AS s
  LEFT JOIN nodes AS above ON above.node_id = s.parent_id
  LEFT JOIN functions AS c ON c.function_id = above.function_id AND c.kind IN ('function', 'pseudo')
)

-- Callees of the selected nodes. A pair counts once on each path, at the outer call.
callees_of_selection AS (
  SELECT $own_group AS callee_id, above.function_id AS caller_id, above.file AS line_file, above.line, above.col, 'call' AS kind,
    n.calls, n.exclusive, IIF(n.node_id <= MAX(n.last_id) OVER (PARTITION BY $own_group ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0.0, n.cumulative) AS cumulative
  FROM $selected_nodes CROSS JOIN nodes AS above$group_of
  WHERE $in_selection AND n.line IS NULL AND n.node_id > $top AND above.node_id = n.parent_id
    AND IIF(above.line IS NULL, above.node_id, above.parent_id) IN (SELECT caller.node_id FROM subtrees AS caller)$in_group
)
