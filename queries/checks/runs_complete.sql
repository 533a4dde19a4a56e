-- Runs whose range of nodes has gaps, whose first node is not a root, or that have nodes although their fidelity is not tree.
SELECT r.run_id
FROM runs AS r
LEFT JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
GROUP BY r.run_id
HAVING COUNT(n.node_id) <> COALESCE(r.last_node - r.first_node + 1, 0)
    OR MIN(CASE WHEN n.node_id = r.first_node THEN n.depth END) <> 0
    OR (r.fidelity <> 'tree' AND COUNT(n.node_id) > 0)
ORDER BY r.run_id;
