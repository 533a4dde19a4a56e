-- Every node of the run, with what is left of its own cost: that of nodes below a focus (or all, without one) and below
-- nothing that is ignored, and of samples with the labels that are wanted.
INSERT INTO temp.visible (
  node_id, last_id, parent_id, outer_id, depth, function_id, file, line, col, calls, kept, cut, exclusive, cumulative,
  kept_before, cut_before, cost_before
)
WITH marked AS (
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
    CASE WHEN :labelled THEN NULL ELSE n.calls END AS calls,
    n.exclusive,
    CASE WHEN :labelled THEN COALESCE(t.exclusive, 0.0) ELSE n.exclusive END AS wanted,
    n.cumulative,
    (:focused = 0 OR MAX(CASE WHEN focus.function_id IS NULL THEN 0 ELSE n.last_id END) OVER so_far >= n.node_id)
      AND MAX(CASE WHEN ignored.function_id IS NULL THEN 0 ELSE n.last_id END) OVER so_far < n.node_id
      AND (:labelled = 0 OR t.node_id IS NOT NULL) AS kept
  FROM runs AS r
  CROSS JOIN temp.question_nodes AS n
  LEFT JOIN temp.matched AS focus ON focus.filter = 'focus' AND focus.function_id = n.function_id
  LEFT JOIN temp.matched AS ignored ON ignored.filter = 'ignore' AND ignored.function_id = n.function_id
  LEFT JOIN temp.labelled AS t ON t.node_id = n.node_id
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
  WINDOW so_far AS (ORDER BY n.node_id ROWS UNBOUNDED PRECEDING)
)
SELECT
  node_id,
  last_id,
  parent_id,
  outer_id,
  depth,
  function_id,
  file,
  line,
  col,
  calls,
  kept,
  NOT kept OR wanted <> exclusive,
  CASE WHEN kept THEN wanted ELSE 0.0 END,
  cumulative,
  SUM(kept) OVER so_far,
  SUM(NOT kept OR wanted <> exclusive) OVER so_far,
  SUM(CASE WHEN kept AND line IS NULL THEN wanted ELSE 0.0 END) OVER so_far
FROM marked
WINDOW so_far AS (ORDER BY node_id ROWS UNBOUNDED PRECEDING);
