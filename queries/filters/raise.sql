-- Gives the children of hidden nodes the nearest visible node as their parent.
UPDATE temp.visible
SET parent_id = (SELECT h.parent_id FROM temp.hidden AS h WHERE h.node_id = visible.parent_id)
WHERE parent_id IN (SELECT node_id FROM temp.hidden);
