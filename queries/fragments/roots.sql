-- The roots that filters leave.
SELECT n.node_id, n.last_id, n.cumulative, 1 AS outermost FROM $nodes AS n WHERE n.parent_id IS NULL
