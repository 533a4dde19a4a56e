-- Costs of threads or processes.

-- Nodes of threads or processes that are not nested in a node of the same kind.
containers AS (
  SELECT node_id, last_id, function_id
  FROM (
    SELECT n.node_id, n.last_id, n.function_id,
      MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f CROSS JOIN function_nodes AS p CROSS JOIN $nodes AS n
    WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id AND f.kind = :kind
      AND p.run_id = r.run_id AND p.function_id = f.function_id AND n.node_id = p.node_id
  )
  WHERE reached IS NULL OR node_id > reached
)

-- Starts of selected subtrees and of threads or processes, with the latest start and end of both kinds so far. The later start
-- is the inner one: its cost belongs to both.
starts AS (
  SELECT node_id, MAX(subtree_end) OVER so_far AS subtree_end, MAX(container_id) OVER so_far AS container_id, MAX(container_end) OVER so_far AS container_end
  FROM (
    SELECT s.node_id, s.last_id AS subtree_end, NULL AS container_id, NULL AS container_end FROM subtrees AS s WHERE s.outermost
    UNION ALL
    SELECT c.node_id, NULL, c.node_id, c.last_id FROM containers AS c
  ) AS t WINDOW so_far AS (ORDER BY node_id ROWS UNBOUNDED PRECEDING)
)

-- Thread names that occur in several processes of the run.
repeated_names AS (
  SELECT f.name
  FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f
  WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id AND f.kind = :kind
  GROUP BY f.name
  HAVING COUNT(*) > 1
)

-- The selected cost by thread or process. If a thread name occurs in several processes, the process precedes it.
known_groups AS (
  SELECT f.function_id AS group_id, IIF(f.module <> '' AND f.name IN (SELECT rn.name FROM repeated_names AS rn), f.module || '/' || f.name, f.name) AS name,
    f.kind, SUM(n.cumulative) AS cost
  FROM $selected_containers AS c CROSS JOIN $nodes AS n CROSS JOIN functions AS f
  WHERE $in_containers AND f.function_id = c.function_id
  GROUP BY f.function_id
)

-- The cost that is in some thread or process. These nodes are not nested, so their costs do not overlap.
shared AS (
  SELECT SUM(cost) AS cost FROM known_groups
)
