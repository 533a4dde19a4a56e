-- The roots that filters leave.
INSERT INTO temp.subtrees (node_id, last_id, outermost)
SELECT node_id, last_id, 1
FROM temp.visible
WHERE parent_id IS NULL;
