-- How many nodes are kept and cut up to each, and what those that are kept cost: differences give sums of subtrees.
SELECT m.node_id, m.last_id, m.parent_id, m.outer_id, m.depth, m.function_id, m.file, m.line, m.col, m.calls,
  m.cumulative, m.kept, IIF(m.kept, m.wanted, 0.0) AS exclusive, NOT m.kept OR m.wanted <> m.exclusive AS cut,
  SUM(m.kept) OVER so_far AS kept_before, SUM(NOT m.kept OR m.wanted <> m.exclusive) OVER so_far AS cut_before,
  SUM(IIF(m.kept AND m.line IS NULL, m.wanted, 0.0)) OVER so_far AS cost_before
FROM marked AS m WINDOW so_far AS (ORDER BY m.node_id ROWS UNBOUNDED PRECEDING)
