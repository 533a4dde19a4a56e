-- Deletes hidden nodes.
DELETE FROM temp.visible
WHERE node_id IN (SELECT node_id FROM temp.hidden);
