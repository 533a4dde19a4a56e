-- Labels without a run, and costs of labels at nodes of another run or with a label set that does not exist.
SELECT 'label_sets' AS relation, s.set_id AS id
FROM label_sets AS s
LEFT JOIN runs AS r ON r.run_id = s.run_id
WHERE r.run_id IS NULL
UNION ALL
SELECT 'node_labels', c.node_id
FROM node_labels AS c
LEFT JOIN metrics AS m ON m.metric_id = c.metric_id
LEFT JOIN runs AS r ON r.run_id = m.run_id
WHERE r.run_id IS NULL
   OR c.node_id NOT BETWEEN r.first_node AND r.last_node
   OR NOT EXISTS (SELECT 1 FROM label_sets AS s WHERE s.run_id = r.run_id AND s.set_id = c.set_id)
ORDER BY 1, 2;
