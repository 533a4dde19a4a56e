-- Nodes with the costs that filters leave; what is left of their ticks nobody has asked.
DROP VIEW temp.asked_nodes;
CREATE TEMP VIEW asked_nodes (
  node_id, last_id, parent_id, outer_id, depth, function_id, file, line, col, calls, exclusive, cumulative,
  exclusive_ticks, cumulative_ticks
) AS
SELECT
  node_id, last_id, parent_id, outer_id, depth, function_id, file, line, col, calls, exclusive, cumulative, NULL, NULL
FROM temp.visible;
