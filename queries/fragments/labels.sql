-- Labels of samples: the wanted label sets and their costs.

-- Label sets with all requested labels.
wanted_sets AS (
  SELECT s.set_id FROM label_sets AS s WHERE s.run_id = :run AND s.key = :key_1$value_1$more_labels
)

-- Exclusive costs of nodes in samples with the wanted labels.
labelled AS (
  SELECT c.node_id, SUM(c.exclusive) AS exclusive
  FROM question AS q CROSS JOIN node_labels AS c
  WHERE c.metric_id = q.metric_id AND c.set_id IN (SELECT set_id FROM wanted_sets)
  GROUP BY c.node_id
)

-- Exclusive costs of function nodes, by node and label set.
labels_of_nodes AS (
  SELECT $labelled_node AS node_id, c.set_id, c.exclusive
  FROM question AS q CROSS JOIN node_labels AS c CROSS JOIN $kept_nodes AS n$hidden_labels
  WHERE c.metric_id = q.metric_id AND n.node_id = c.node_id AND n.line IS NULL$labels_left
)

-- Exclusive costs of the selected nodes, by label set.
selected_labels AS (
  SELECT c.set_id, c.exclusive FROM $selected_labels
  WHERE $in_selected_labels
)
