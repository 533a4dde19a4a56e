-- The nodes that are not hidden, below the nearest one that is not hidden either.
SELECT n.node_id, n.last_id, IIF(h.node_id IS NULL, n.parent_id, h.at_id) AS parent_id, n.outer_id, $depth AS depth,
  n.function_id, n.file, n.line, n.col, n.calls, n.exclusive + COALESCE(a.cost, 0.0) AS exclusive, n.cumulative
FROM runs AS r CROSS JOIN $kept_nodes AS n
LEFT JOIN hidden AS h ON h.node_id = n.parent_id LEFT JOIN adopted AS a ON a.node_id = n.node_id$nesting
WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
  AND n.function_id NOT IN (SELECT value FROM json_each(:hide))
