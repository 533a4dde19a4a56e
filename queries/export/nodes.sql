-- The nodes of a run, parents first, with their costs in its default metric; lines break down the function node above them.
SELECT
  n.depth,
  n.function_id,
  n.line,
  n.file,
  n.col,
  n.calls,
  n.exclusive,
  n.cumulative,
  n.node_id,
  n.last_id
FROM nodes AS n
WHERE n.node_id BETWEEN :first AND :last
ORDER BY n.node_id
