-- Cumulative costs where a part of a subtree is gone: the node's own and that of the kept function nodes below.
UPDATE temp.visible
SET cumulative = exclusive + below.cost
FROM (
  SELECT
    v.node_id,
    last.cost_before - v.cost_before AS cost,
    last.kept_before - v.kept_before + v.kept AS kept,
    v.last_id - v.node_id + 1 AS nodes
  FROM temp.visible AS v
  CROSS JOIN temp.visible AS last
  WHERE last.node_id = v.last_id
) AS below
WHERE below.node_id = visible.node_id AND below.kept < below.nodes AND cumulative IS NOT NULL;
