-- Every node of the run, with what is wanted of its own cost, and whether it is kept.
SELECT n.node_id, n.last_id, n.parent_id, n.outer_id, n.depth, n.function_id, n.file, n.line, n.col,
  $calls AS calls, n.exclusive, n.cumulative, $wanted AS wanted,
  $kept AS kept
FROM runs AS r CROSS JOIN $metric_nodes AS n$labelled
WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
WINDOW so_far AS (ORDER BY n.node_id ROWS UNBOUNDED PRECEDING)
