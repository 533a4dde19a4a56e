-- What the nodes cost themselves in samples with these labels.
INSERT INTO temp.tagged (node_id, exclusive)
SELECT c.node_id, SUM(c.exclusive)
FROM temp.asked AS a
CROSS JOIN node_labels AS c
WHERE a.question = 1 AND c.metric_id = a.metric_id AND c.set_id IN (SELECT set_id FROM temp.tag_sets)
GROUP BY c.node_id;
