-- The tree after --focus, --ignore and --label.

-- All nodes of the run with the wanted part of their exclusive cost. Column kept marks the nodes that the filters keep.
marked AS (
  SELECT n.node_id, n.last_id, n.parent_id, n.outer_id, n.depth, n.function_id, n.file, n.line, n.col,
    $calls AS calls, n.exclusive, n.cumulative, $wanted AS wanted,
    $kept AS kept
  FROM runs AS r CROSS JOIN $metric_nodes AS n$labelled
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node$so_far
)

-- Running counts of kept and cut nodes, and running costs of kept nodes: a difference of two rows is the sum of a subtree.
counted AS (
  SELECT m.node_id, m.last_id, m.parent_id, m.outer_id, m.depth, m.function_id, m.file, m.line, m.col, m.calls,
    m.cumulative, m.kept, IIF(m.kept, m.wanted, 0.0) AS exclusive, NOT m.kept OR m.wanted <> m.exclusive AS cut,
    SUM(m.kept) OVER so_far AS kept_before, SUM(NOT m.kept OR m.wanted <> m.exclusive) OVER so_far AS cut_before,
    SUM(IIF(m.kept AND m.line IS NULL, m.wanted, 0.0)) OVER so_far AS cost_before
  FROM marked AS m WINDOW so_far AS (ORDER BY m.node_id ROWS UNBOUNDED PRECEDING)
)

-- Nodes with a kept node in their subtree, and the kept cost. If all of a subtree is kept, the node keeps the cost of the file.
left_nodes AS (
  SELECT c.node_id, c.last_id, c.parent_id, c.outer_id, c.depth, c.function_id, c.file, c.line, c.col, c.calls,
    c.exclusive, c.kept, IIF(c.cumulative IS NULL OR last.cut_before = c.cut_before - c.cut, c.cumulative,
      c.exclusive + last.cost_before - c.cost_before) AS cumulative
  FROM counted AS c CROSS JOIN counted AS last
  WHERE last.node_id = c.last_id AND last.kept_before > c.kept_before - c.kept
)
