-- No path is selected: the selection is the whole run.

-- The whole run as one range of nodes, whatever the number of its roots.
subtrees AS (
  SELECT first_node AS node_id, last_node AS last_id, 1 AS outermost FROM runs WHERE run_id = :run
)

-- The cost of the whole run.
selected AS (
  SELECT COALESCE(q.total, 0.0) AS cost FROM question AS q
)
