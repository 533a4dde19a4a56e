-- What the last step of a path has reached.
INSERT INTO temp.subtrees (node_id, last_id, outermost)
SELECT node_id, last_id, outermost
FROM temp.selection
WHERE step = :step;
