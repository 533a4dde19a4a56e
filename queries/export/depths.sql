-- The sum of the depths of all nodes of a run.
SELECT SUM(n.depth)
FROM runs AS r
CROSS JOIN nodes AS n
WHERE r.run_id = :run
  AND n.node_id BETWEEN r.first_node AND r.last_node
