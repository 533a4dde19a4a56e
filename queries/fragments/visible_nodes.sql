-- The tree without the nodes of --hide.

-- Starts of all nodes and ends of hidden nodes, with their level in the tree without hidden nodes: the depth less the number of
-- enclosing hidden nodes. A hidden node counts itself and so has the level of its nearest visible ancestor.
levels AS (
  SELECT n.node_id, n.line, n.exclusive, e.is_hidden, e.is_end, n.depth - SUM(IIF(e.is_end = 1, -e.is_hidden, e.is_hidden))
    OVER (ORDER BY IIF(e.is_end = 1, n.last_id, n.node_id), e.is_end ROWS UNBOUNDED PRECEDING) AS level
  FROM runs AS r CROSS JOIN $kept_nodes AS n CROSS JOIN (SELECT 0 AS is_hidden, 0 AS is_end UNION ALL SELECT 1, 0 UNION ALL SELECT 1, 1) AS e
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node AND e.is_hidden = IIF(n.function_id IN (SELECT value FROM json_each(:hide)), 1, 0)
)

-- Hidden nodes with the nearest visible ancestor: the last visible node of that level before them, or NULL. GROUP BY removes no
-- row; it makes SQLite expect many rows and join by an index.
hidden AS (
  SELECT node_id, MAX(at_id) AS at_id, MAX(line) AS line, MAX(exclusive) AS exclusive FROM (
    SELECT node_id, line, exclusive, is_hidden, MAX(IIF(is_hidden = 1, NULL, node_id)) OVER (PARTITION BY level ORDER BY node_id) AS at_id FROM levels WHERE is_end = 0
  ) WHERE is_hidden = 1 GROUP BY node_id
)

-- The cost of a hidden function goes to its nearest visible ancestor, and if that is a line, to the function of the line as
-- well. The cast gives the number a type, so that SQLite joins by an index.
adopted AS (
  SELECT CAST(IIF(t.to_function = 1, above.parent_id, above.node_id) AS BIGINT) AS node_id, SUM(h.exclusive) AS cost
  FROM hidden AS h CROSS JOIN nodes AS above CROSS JOIN (SELECT 0 AS to_function UNION ALL SELECT 1) AS t
  WHERE h.line IS NULL AND above.node_id = h.at_id AND (t.to_function = 0 OR above.line IS NOT NULL) GROUP BY 1
)

-- The visible nodes with their nearest visible ancestor as parent.
visible_nodes AS (
  SELECT n.node_id, n.last_id, IIF(h.node_id IS NULL, n.parent_id, h.at_id) AS parent_id, n.outer_id, $depth AS depth,
    n.function_id, n.file, n.line, n.col, n.calls, n.exclusive + COALESCE(a.cost, 0.0) AS exclusive, n.cumulative
  FROM runs AS r CROSS JOIN $kept_nodes AS n LEFT JOIN hidden AS h ON h.node_id = n.parent_id LEFT JOIN adopted AS a ON a.node_id = n.node_id$levels
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node AND n.function_id NOT IN (SELECT value FROM json_each(:hide))
)
