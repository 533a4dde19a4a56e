-- Cumulative costs where a part of a subtree is left out: the node's own cost and that of the kept function nodes below.
UPDATE temp.visible
SET cumulative = exclusive + below.cost
FROM (
  SELECT
    v.node_id,
    last.cost_before - v.cost_before AS cost,
    last.cut_before - v.cut_before + v.cut AS cuts
  FROM temp.visible AS v
  CROSS JOIN temp.visible AS last
  WHERE last.node_id = v.last_id
) AS below
WHERE below.node_id = visible.node_id AND below.cuts > 0 AND cumulative IS NOT NULL;
