-- The tree without the nodes that --hide hides.

-- Each node, and each end of a hidden node, with its level in the tree without hidden nodes: its depth less the hidden nodes around it.
-- A hidden node counts itself, too, and so has the level of the nearest visible node above it.
levels AS (
  SELECT n.node_id, n.line, n.exclusive, e.is_hidden, e.is_end, n.depth - SUM(IIF(e.is_end = 1, -e.is_hidden, e.is_hidden))
    OVER (ORDER BY IIF(e.is_end = 1, n.last_id, n.node_id), e.is_end ROWS UNBOUNDED PRECEDING) AS level
  FROM runs AS r CROSS JOIN $kept_nodes AS n CROSS JOIN (SELECT 0 AS is_hidden, 0 AS is_end UNION ALL SELECT 1, 0 UNION ALL SELECT 1, 1) AS e
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node AND e.is_hidden = IIF(n.function_id IN (SELECT value FROM json_each(:hide)), 1, 0)
)

-- Hidden nodes with the nearest visible node above: the last visible one of the same level before them. NULL if there is none. SQLite
-- joins them by an index, because it does not expect few groups: the numbers are different ones anyway.
hidden AS (
  SELECT node_id, MAX(at_id) AS at_id, MAX(line) AS line, MAX(exclusive) AS exclusive FROM (
    SELECT node_id, line, exclusive, is_hidden, MAX(IIF(is_hidden = 1, NULL, node_id)) OVER (PARTITION BY level ORDER BY node_id) AS at_id FROM levels WHERE is_end = 0
  ) WHERE is_hidden = 1 GROUP BY node_id
)

-- The cost of a hidden function goes to the nearest visible node above, and if that is a line, to its function, too. SQLite
-- joins them by an index, because it knows the type of the numbers.
adopted AS (
  SELECT CAST(IIF(t.to_function = 1, above.parent_id, above.node_id) AS BIGINT) AS node_id, SUM(h.exclusive) AS cost
  FROM hidden AS h CROSS JOIN nodes AS above CROSS JOIN (SELECT 0 AS to_function UNION ALL SELECT 1) AS t
  WHERE h.line IS NULL AND above.node_id = h.at_id AND (t.to_function = 0 OR above.line IS NOT NULL) GROUP BY 1
)

-- The visible nodes, below the nearest visible node above each.
visible_nodes AS (
  SELECT n.node_id, n.last_id, IIF(h.node_id IS NULL, n.parent_id, h.at_id) AS parent_id, n.outer_id, $depth AS depth,
    n.function_id, n.file, n.line, n.col, n.calls, n.exclusive + COALESCE(a.cost, 0.0) AS exclusive, n.cumulative
  FROM runs AS r CROSS JOIN $kept_nodes AS n LEFT JOIN hidden AS h ON h.node_id = n.parent_id LEFT JOIN adopted AS a ON a.node_id = n.node_id$levels
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node AND n.function_id NOT IN (SELECT value FROM json_each(:hide))
)
