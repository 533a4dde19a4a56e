-- A,B: the nodes of B strictly within the outermost nodes of A, whatever lies between.
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
  FROM temp.selection AS s
  CROSS JOIN temp.picked AS p
  CROSS JOIN function_nodes AS i
    ON i.run_id = :run AND i.function_id = p.function_id AND i.node_id > s.node_id AND i.node_id <= s.last_id
  CROSS JOIN temp.question_nodes AS n ON n.node_id = i.node_id
  WHERE s.step = :step - 1 AND s.outermost = 1 AND p.step = :step
);
