-- Walks to the root begin at the selected nodes. Within another selected node, a node's cost is counted already.
CREATE TEMP VIEW starts (node_id, function_id, calls, exclusive, cumulative) AS
SELECT n.node_id, n.function_id, n.calls, n.exclusive, CASE WHEN s.outermost THEN n.cumulative ELSE 0.0 END
FROM temp.subtrees AS s
CROSS JOIN temp.question_nodes AS n
WHERE n.node_id = s.node_id;
