-- The nodes of subtrees, with their depth there.
CREATE TEMP VIEW places (
  subtree_id, node_id, parent_id, depth, function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings,
  cumulative_readings
) AS
SELECT
  s.node_id,
  n.node_id,
  n.parent_id,
  n.depth - top.depth,
  n.function_id,
  n.file,
  n.line,
  n.col,
  n.calls,
  n.exclusive,
  n.cumulative,
  n.exclusive_readings,
  n.cumulative_readings
FROM temp.subtrees AS s
CROSS JOIN temp.question_nodes AS top
CROSS JOIN temp.question_nodes AS n
WHERE s.outermost AND top.node_id = s.node_id AND n.node_id BETWEEN s.node_id AND s.last_id;
