-- The same of what filters leave. What is hidden counts for the node that has taken its cost.
DROP VIEW temp.asked_labels;
CREATE TEMP VIEW asked_labels (node_id, set_id, exclusive) AS
SELECT COALESCE(h.parent_id, c.node_id), c.set_id, c.exclusive
FROM temp.asked AS a
CROSS JOIN node_labels AS c
LEFT JOIN temp.hidden AS h ON h.node_id = c.node_id
LEFT JOIN temp.visible AS v ON v.node_id = c.node_id
WHERE a.question = 1
  AND c.metric_id = a.metric_id
  AND CASE
    WHEN h.node_id IS NULL THEN v.kept AND v.line IS NULL
    ELSE h.kept AND h.line IS NULL AND h.parent_id IS NOT NULL
  END
  AND (NOT EXISTS (SELECT 1 FROM temp.tag_sets) OR c.set_id IN (SELECT set_id FROM temp.tag_sets));
