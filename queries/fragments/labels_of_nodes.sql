-- Own costs of function nodes in samples with labels, by node and set of labels.
SELECT $labelled_node AS node_id, c.set_id, c.exclusive
FROM question AS q CROSS JOIN node_labels AS c CROSS JOIN $kept_nodes AS n$hidden_labels
WHERE c.metric_id = q.metric_id AND n.node_id = c.node_id AND n.line IS NULL$labels_left
