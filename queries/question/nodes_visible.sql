-- Nodes with the costs that filters leave. Their timer readings are not computed.
DROP VIEW temp.question_nodes;
CREATE TEMP VIEW question_nodes (
  node_id, last_id, parent_id, outer_id, depth, function_id, file, line, col, calls, exclusive, cumulative,
  exclusive_readings, cumulative_readings
) AS
SELECT
  node_id, last_id, parent_id, outer_id, depth, function_id, file, line, col, calls, exclusive, cumulative, NULL, NULL
FROM temp.visible;
