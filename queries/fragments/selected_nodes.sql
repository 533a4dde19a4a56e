-- The nodes that filters leave, each with the top node of the last selected subtree that begins at it or before it, and with the last
-- number in that subtree: the node is selected if it is not behind that. Found in one go, however many subtrees there are.
SELECT n.node_id, n.last_id, n.parent_id, n.outer_id, n.depth, n.function_id, n.file, n.line, n.col, n.calls, n.exclusive, n.cumulative,
  MAX(s.node_id) OVER so_far AS top_id, MAX(s.last_id) OVER so_far AS reached
FROM $nodes AS n LEFT JOIN subtrees AS s ON s.node_id = n.node_id AND s.outermost WINDOW so_far AS (ORDER BY n.node_id ROWS UNBOUNDED PRECEDING)
