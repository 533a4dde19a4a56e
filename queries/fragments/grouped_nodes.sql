-- Costs of groups in subtrees. Inclusive cost counts where no enclosing node has a function of the same group.
SELECT group_id AS function_id,
  CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls / 4294967296) * 4294967296 + SUM(calls % 4294967296) END AS calls,
  SUM(exclusive) AS exclusive, SUM(IIF(node_id <= reached, 0.0, cumulative)) AS cumulative, SUM(cumulative) AS seen
FROM (
  SELECT g.group_id, n.node_id, n.calls, n.exclusive, n.cumulative, MAX(n.last_id)
    OVER (PARTITION BY g.group_id ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
  FROM $selected_nodes CROSS JOIN group_of AS g
  WHERE $in_selection AND n.line IS NULL AND g.function_id = n.function_id
)
GROUP BY group_id
