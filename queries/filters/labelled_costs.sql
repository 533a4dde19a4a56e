-- Own costs of nodes in samples with the wanted labels.
INSERT INTO temp.labelled (node_id, exclusive)
SELECT c.node_id, SUM(c.exclusive)
FROM temp.question AS q
CROSS JOIN node_labels AS c
WHERE q.question_id = 1 AND c.metric_id = q.metric_id AND c.set_id IN (SELECT set_id FROM temp.wanted_sets)
GROUP BY c.node_id;
