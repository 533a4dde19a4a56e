-- Own costs of function nodes in samples with labels, by node and set of labels, in the metric of the question.
CREATE TEMP VIEW question_labels (node_id, set_id, exclusive) AS
SELECT c.node_id, c.set_id, c.exclusive
FROM temp.question AS q
CROSS JOIN node_labels AS c
CROSS JOIN nodes AS n
WHERE q.question_id = 1 AND c.metric_id = q.metric_id AND n.node_id = c.node_id AND n.line IS NULL;
