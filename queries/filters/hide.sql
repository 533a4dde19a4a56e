-- The nodes that are hidden.
INSERT INTO temp.hidden (node_id, parent_id)
SELECT v.node_id, v.parent_id
FROM temp.visible AS v
CROSS JOIN temp.matched AS m
WHERE m.filter = 'hide' AND m.function_id = v.function_id;
