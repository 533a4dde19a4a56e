-- Pointer jumping: a hidden parent is replaced by its own parent. Repeated until nothing changes, it finds the nearest node
-- that is not hidden.
UPDATE temp.hidden
SET parent_id = (SELECT up.parent_id FROM temp.hidden AS up WHERE up.node_id = hidden.parent_id)
WHERE parent_id IN (SELECT node_id FROM temp.hidden);
