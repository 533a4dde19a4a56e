-- Nodes with their costs in a metric that is not the default one of the run.
CREATE TEMP VIEW question_nodes (
  node_id, last_id, parent_id, outer_id, depth, function_id, file, line, col, calls, exclusive, cumulative,
  exclusive_readings, cumulative_readings
) AS
SELECT
  n.node_id,
  n.last_id,
  n.parent_id,
  n.outer_id,
  n.depth,
  n.function_id,
  n.file,
  n.line,
  n.col,
  n.calls,
  COALESCE(c.exclusive, 0.0),
  CASE WHEN c.node_id IS NULL THEN 0.0 ELSE c.cumulative END,
  CASE
    WHEN q.readings_id IS NULL THEN NULL
    WHEN q.readings_are_default THEN n.exclusive
    ELSE COALESCE(t.exclusive, 0.0)
  END,
  CASE
    WHEN q.readings_id IS NULL THEN NULL
    WHEN q.readings_are_default THEN n.cumulative
    WHEN t.node_id IS NULL THEN 0.0
    ELSE t.cumulative
  END
FROM temp.question AS q
CROSS JOIN nodes AS n
LEFT JOIN node_costs AS c ON c.metric_id = q.metric_id AND c.node_id = n.node_id
LEFT JOIN node_costs AS t ON t.metric_id = q.readings_id AND t.node_id = n.node_id
WHERE q.question_id = 1;
