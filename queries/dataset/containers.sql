-- What threads or processes cost, in words of all engines.

-- Without columns that are not grouped by.
known_groups AS (
  SELECT f.function_id AS group_id, MIN(f.name) AS name, MIN(f.kind) AS kind, SUM(n.cumulative) AS cost
  FROM subtrees AS s CROSS JOIN containers AS c CROSS JOIN $nodes AS n CROSS JOIN functions AS f
  WHERE s.outermost AND c.node_id <= s.last_id AND c.last_id >= s.node_id AND n.node_id = MAX(s.node_id, c.node_id)
    AND f.function_id = c.function_id
  GROUP BY f.function_id
)
