-- The nodes that are hidden.
INSERT INTO temp.hidden (node_id, parent_id, line, kept)
SELECT v.node_id, v.parent_id, v.line, v.kept
FROM temp.visible AS v
CROSS JOIN temp.matched AS m
WHERE m.filter = 'hide' AND m.function_id = v.function_id;
