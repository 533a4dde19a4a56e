-- All nodes of the functions that match the first name. Outermost subtrees are disjoint.
SELECT n.node_id, n.last_id, n.parent_id, n.depth, n.function_id, n.calls, n.exclusive, n.cumulative,
  COALESCE(n.node_id > MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS outermost
FROM step_$step_functions AS p CROSS JOIN function_nodes AS i CROSS JOIN $nodes AS n
WHERE i.run_id = :run AND i.function_id = p.function_id AND n.node_id = i.node_id
