-- The whole run as one range of nodes, whatever the number of its roots.
SELECT first_node AS node_id, last_node AS last_id, 1 AS outermost FROM runs WHERE run_id = :run
