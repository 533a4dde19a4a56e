-- Nodes of threads or processes, except those within others of their kind.
SELECT node_id, last_id, function_id
FROM (
  SELECT n.node_id, n.last_id, n.function_id,
    MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
  FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f CROSS JOIN function_nodes AS p CROSS JOIN $nodes AS n
  WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id AND f.kind = :kind
    AND p.run_id = r.run_id AND p.function_id = f.function_id AND n.node_id = p.node_id
)
WHERE reached IS NULL OR node_id > reached
