-- The nodes with a kept node in their subtree, and the cost that is kept. Where all is kept, the file's figure stays.
SELECT c.node_id, c.last_id, c.parent_id, c.outer_id, c.depth, c.function_id, c.file, c.line, c.col, c.calls,
  c.exclusive, c.kept, IIF(c.cumulative IS NULL OR last.cut_before = c.cut_before - c.cut, c.cumulative,
    c.exclusive + last.cost_before - c.cost_before) AS cumulative
FROM counted AS c CROSS JOIN counted AS last
WHERE last.node_id = c.last_id AND last.kept_before > c.kept_before - c.kept
