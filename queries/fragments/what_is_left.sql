-- No path is selected: the selection is the filtered run.

-- The whole run as one range of nodes, whatever the number of its roots.
subtrees AS (
  SELECT first_node AS node_id, last_node AS last_id, 1 AS outermost FROM runs WHERE run_id = :run
)

-- The cost of the roots after filters.
selected AS (
  SELECT COALESCE(SUM(n.cumulative), 0.0) AS cost FROM $nodes AS n WHERE n.parent_id IS NULL
)
