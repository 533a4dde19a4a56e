-- The nodes after filters, with the last selected subtree that starts at or before each node. A node is selected if its number
-- is not greater than the last node of that subtree. One scan finds all, whatever the number of subtrees.
SELECT n.node_id, n.last_id, n.parent_id, n.outer_id, n.depth, n.function_id, n.file, n.line, n.col, n.calls, n.exclusive, n.cumulative,
  MAX(s.node_id) OVER (ORDER BY n.node_id) AS top_id, MAX(s.last_id) OVER (ORDER BY n.node_id) AS reached
FROM $nodes AS n LEFT JOIN (SELECT s.node_id, MAX(s.last_id) AS last_id FROM subtrees AS s WHERE s.outermost GROUP BY s.node_id) AS s ON s.node_id = n.node_id
