-- A,B: the nodes of B strictly within the outermost nodes of A, whatever lies between.
SELECT n.node_id, n.last_id, n.depth, n.cumulative,
  COALESCE(n.node_id > MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS outermost
FROM step_$earlier AS s CROSS JOIN step_$step_functions AS p CROSS JOIN function_nodes AS i CROSS JOIN $nodes AS n
WHERE s.outermost AND i.run_id = :run AND i.function_id = p.function_id
  AND i.node_id > s.node_id AND i.node_id <= s.last_id AND n.node_id = i.node_id
