-- Whom the selected nodes called: on each path a pair counts once, at the outer call.
SELECT $own_group AS callee_id, 'call' AS kind, n.calls, n.exclusive,
  IIF(n.node_id <= MAX(n.last_id) OVER (PARTITION BY $own_group ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
    0.0, n.cumulative) AS cumulative
FROM subtrees AS s CROSS JOIN $nodes AS n CROSS JOIN nodes AS above CROSS JOIN subtrees AS caller$group_of
WHERE s.outermost AND n.line IS NULL AND n.node_id > s.node_id AND n.node_id <= s.last_id AND above.node_id = n.parent_id
  AND caller.node_id = IIF(above.line IS NULL, above.node_id, above.parent_id)$in_group
