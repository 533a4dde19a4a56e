-- The whole run as one range of nodes, whatever the number of its roots.
INSERT INTO temp.subtrees (node_id, last_id, outermost)
SELECT first_node, last_node, 1
FROM runs
WHERE run_id = :run AND first_node IS NOT NULL;
