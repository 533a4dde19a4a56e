-- Nothing is selected: all of the run is.

-- The whole run as one range of nodes, whatever the number of its roots.
subtrees AS (
  SELECT first_node AS node_id, last_node AS last_id, 1 AS outermost FROM runs WHERE run_id = :run
)

-- What the whole run cost.
selected AS (
  SELECT COALESCE(q.total, 0.0) AS cost FROM question AS q
)
