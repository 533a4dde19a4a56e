-- From each hidden node up, while what is reached is hidden, too.
SELECT n.node_id, n.parent_id AS at_id, n.last_id, n.line, n.exclusive FROM runs AS r CROSS JOIN $kept_nodes AS n
WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
  AND n.function_id IN (SELECT value FROM json_each(:hide))
UNION ALL
SELECT c.node_id, n.parent_id, c.last_id, c.line, c.exclusive FROM climb AS c CROSS JOIN nodes AS n
WHERE n.node_id = c.at_id AND n.function_id IN (SELECT value FROM json_each(:hide))
