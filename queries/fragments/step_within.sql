-- A,B: the nodes of B below the outermost nodes of A, at any depth. Each node of B is compared with the end of the last
-- outermost node of A that starts before it.
SELECT n.node_id, n.last_id, n.parent_id, n.depth, n.function_id, n.calls, n.exclusive, n.cumulative,
  COALESCE(n.node_id > MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS outermost
FROM (
  SELECT node_id FROM (
    SELECT t.node_id, t.is_start, MAX(t.last_id) OVER (ORDER BY t.node_id, t.is_start ROWS UNBOUNDED PRECEDING) AS reached FROM (
      SELECT s.node_id, s.last_id, 1 AS is_start FROM step_$earlier AS s WHERE s.outermost
      UNION ALL
      SELECT i.node_id, NULL, 0 FROM step_$step_functions AS p CROSS JOIN function_nodes AS i WHERE i.run_id = :run AND i.function_id = p.function_id
    ) AS t
  ) WHERE is_start = 0 AND node_id <= reached GROUP BY node_id
) AS i CROSS JOIN $nodes AS n WHERE n.node_id = i.node_id
