-- What the last step of a path has reached and filters have left. Where a filter hides one of several functions that the
-- name means, another that was within it may be the outermost now.
INSERT INTO temp.subtrees (node_id, last_id, outermost)
SELECT
  s.node_id,
  s.last_id,
  COALESCE(
    s.node_id > MAX(s.last_id) OVER (ORDER BY s.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
    1
  )
FROM temp.selection AS s
CROSS JOIN temp.visible AS v ON v.node_id = s.node_id
WHERE s.step = :step;
