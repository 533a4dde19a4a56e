-- How many hidden nodes enclose each node: those that begin before it, less those that end before it.
SELECT node_id, SUM(change) OVER (ORDER BY place, change ROWS UNBOUNDED PRECEDING) AS hidden_above
FROM (
  SELECT n.node_id AS place, n.node_id, 0 AS change
  FROM runs AS r CROSS JOIN $kept_nodes AS n
  WHERE r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node
  UNION ALL
  SELECT IIF(at_end, h.last_id + 0.5, h.node_id + 0.2), NULL, IIF(at_end, -1, 1)
  FROM hidden AS h CROSS JOIN (SELECT 0 AS at_end UNION ALL SELECT 1)
)
