-- Exclusive costs of nodes by label set. Nodes are numbered from 0 within the run.
SELECT c.node_id - r.first_node, c.set_id, c.exclusive
FROM metrics AS m
JOIN runs AS r ON r.run_id = m.run_id
JOIN node_labels AS c ON c.metric_id = m.metric_id
WHERE m.metric_id = :metric
ORDER BY c.node_id, c.set_id
