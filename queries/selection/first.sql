-- First step: all nodes of the functions that its name means, as far as filters have left them.
INSERT INTO temp.selection (step, node_id, last_id, outermost)
SELECT
  :step,
  node_id,
  last_id,
  COALESCE(
    node_id > MAX(last_id) OVER (ORDER BY node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
    1
  )
FROM (
  SELECT n.node_id, n.last_id
  FROM temp.picked AS p
  CROSS JOIN function_nodes AS i ON i.run_id = :run AND i.function_id = p.function_id
  CROSS JOIN temp.question_nodes AS n ON n.node_id = i.node_id
  WHERE p.step = :step
);
