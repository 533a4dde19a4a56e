-- A>B: the nodes of B called directly by a node of A; a line of A may be between them.
SELECT n.node_id, n.last_id, n.parent_id, n.depth, n.function_id, n.calls, n.exclusive, n.cumulative,
  COALESCE(n.node_id > MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS outermost
FROM step_$step_functions AS p CROSS JOIN function_nodes AS i CROSS JOIN $nodes AS n CROSS JOIN nodes AS above
WHERE i.run_id = :run AND i.function_id = p.function_id AND n.node_id = i.node_id AND above.node_id = n.parent_id
  AND IIF(above.line IS NULL, above.node_id, above.parent_id) IN (SELECT s.node_id FROM step_$earlier AS s)
