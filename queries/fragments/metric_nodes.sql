-- Nodes with their costs in the metric of the report. A node without a row in node_costs has cost 0.
SELECT n.node_id, n.last_id, n.parent_id, n.outer_id, n.depth, n.function_id, n.file, n.line, n.col, n.calls,
  $own_cost AS exclusive, $all_cost AS cumulative$node_readings
FROM question AS q CROSS JOIN nodes AS n$cost_joins
