-- The tree without the nodes that --hide hides.

-- From each hidden node up, while what is reached is hidden, too.
climb AS (
  SELECT n.node_id, n.parent_id AS at_id, n.last_id, n.line, n.exclusive FROM runs AS r CROSS JOIN $kept_nodes AS n
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
    AND n.function_id IN (SELECT value FROM json_each(:hide))
  UNION ALL
  SELECT c.node_id, n.parent_id, c.last_id, c.line, c.exclusive FROM climb AS c CROSS JOIN nodes AS n
  WHERE n.node_id = c.at_id AND n.function_id IN (SELECT value FROM json_each(:hide))
)

-- Hidden nodes with the nearest node above that is not hidden; NULL if there is none.
hidden AS (
  SELECT node_id, IIF(COUNT(*) = COUNT(at_id), MIN(at_id), NULL) AS at_id, last_id, line, exclusive FROM climb GROUP BY node_id
)

-- What hidden functions cost goes to the nearest node above, and where that is a line, to its function, too.
adopted AS (
  SELECT IIF(to_line, above.parent_id, h.at_id) AS node_id, SUM(h.exclusive) AS cost
  FROM hidden AS h CROSS JOIN nodes AS above CROSS JOIN (SELECT 0 AS to_line UNION ALL SELECT 1)
  WHERE h.line IS NULL AND above.node_id = h.at_id AND (NOT to_line OR above.line IS NOT NULL) GROUP BY 1
)

-- How many hidden nodes enclose each node: those that begin before it, less those that end before it.
nesting AS (
  SELECT node_id, SUM(change) OVER (ORDER BY place, change ROWS UNBOUNDED PRECEDING) AS hidden_above
  FROM (
    SELECT n.node_id AS place, n.node_id, 0 AS change
    FROM runs AS r CROSS JOIN $kept_nodes AS n
    WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
    UNION ALL
    SELECT IIF(at_end, h.last_id + 0.5, h.node_id + 0.2), NULL, IIF(at_end, -1, 1)
    FROM hidden AS h CROSS JOIN (SELECT 0 AS at_end UNION ALL SELECT 1)
  )
)

-- The nodes that are not hidden, below the nearest one that is not hidden either.
visible_nodes AS (
  SELECT n.node_id, n.last_id, IIF(h.node_id IS NULL, n.parent_id, h.at_id) AS parent_id, n.outer_id, $depth AS depth,
    n.function_id, n.file, n.line, n.col, n.calls, n.exclusive + COALESCE(a.cost, 0.0) AS exclusive, n.cumulative
  FROM runs AS r CROSS JOIN $kept_nodes AS n
  LEFT JOIN hidden AS h ON h.node_id = n.parent_id LEFT JOIN adopted AS a ON a.node_id = n.node_id$nesting
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
    AND n.function_id NOT IN (SELECT value FROM json_each(:hide))
)
