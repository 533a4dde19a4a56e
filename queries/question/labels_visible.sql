-- Own costs of the nodes that filters leave, by node and set of labels. The cost of a hidden node counts for the visible
-- node that took it over.
DROP VIEW temp.question_labels;
CREATE TEMP VIEW question_labels (node_id, set_id, exclusive) AS
SELECT COALESCE(h.parent_id, c.node_id), c.set_id, c.exclusive
FROM temp.question AS q
CROSS JOIN node_labels AS c
LEFT JOIN temp.hidden AS h ON h.node_id = c.node_id
LEFT JOIN temp.visible AS v ON v.node_id = c.node_id
WHERE q.question_id = 1
  AND c.metric_id = q.metric_id
  AND CASE
    WHEN h.node_id IS NULL THEN v.kept AND v.line IS NULL
    ELSE h.kept AND h.line IS NULL AND h.parent_id IS NOT NULL
  END
  AND (NOT EXISTS (SELECT 1 FROM temp.wanted_sets) OR c.set_id IN (SELECT set_id FROM temp.wanted_sets));
