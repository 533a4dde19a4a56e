-- What nodes of a run cost in a metric that is not its default one. A node without a row cost 0.
SELECT
  c.node_id,
  c.exclusive,
  c.cumulative
FROM node_costs AS c
WHERE c.metric_id = :metric
  AND c.node_id BETWEEN :first AND :last
ORDER BY c.node_id
