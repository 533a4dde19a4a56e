-- Own costs of nodes in samples with the wanted labels.
SELECT c.node_id, SUM(c.exclusive) AS exclusive
FROM question AS q CROSS JOIN node_labels AS c
WHERE c.metric_id = q.metric_id AND c.set_id IN (SELECT set_id FROM wanted_sets)
GROUP BY c.node_id
