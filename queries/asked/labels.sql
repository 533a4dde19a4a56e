-- What functions cost in samples with labels, by node and set of labels, in the metric that is asked for.
CREATE TEMP VIEW asked_labels (node_id, set_id, exclusive) AS
SELECT c.node_id, c.set_id, c.exclusive
FROM temp.asked AS a
CROSS JOIN node_labels AS c
CROSS JOIN nodes AS n
WHERE a.question = 1 AND c.metric_id = a.metric_id AND n.node_id = c.node_id AND n.line IS NULL;
