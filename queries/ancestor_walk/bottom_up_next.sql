-- Adds up the chains of a level, and continues those that are large enough at the next.
INSERT INTO temp.chains (level, chain_id, function_id, calls, cost, place)
SELECT
  :level,
  chain_id,
  function_id,
  calls,
  cost,
  place || SUBSTR('000000000' || rank, -9)
FROM (
  SELECT
    k.chain_id,
    n.function_id,
    k.calls,
    k.cost,
    COALESCE(up.place || '.', '') AS place,
    ROW_NUMBER() OVER (
      PARTITION BY k.up_id
      -- Names may be long, and occur in many chains.
      ORDER BY k.cost DESC, SUBSTR(f.name, 1, 1000), SUBSTR(f.module, 1, 1000), SUBSTR(f.file, 1, 1000), f.function_id
    ) AS rank
  FROM (
    SELECT
      chain_id,
      up_id,
      MIN(at_id) AS at_id,
      CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END AS calls,
      SUM(cost) AS cost
    FROM temp.ancestor_walk
    WHERE level = :level
    GROUP BY chain_id, up_id
  ) AS k
  CROSS JOIN temp.question AS q
  CROSS JOIN nodes AS n
  CROSS JOIN functions AS f
  LEFT JOIN temp.chains AS up ON up.level = :level - 1 AND up.chain_id = k.up_id
  WHERE q.question_id = 1
    AND n.node_id = k.at_id
    AND f.function_id = n.function_id
    AND (:min_pct IS NULL OR 100 * k.cost / NULLIF(q.total, 0) >= :min_pct)
)
WHERE :level > 0 OR :first IS NULL OR rank <= :first;
DELETE FROM temp.ancestor_walk
WHERE level < :level;
INSERT INTO temp.ancestor_walk (level, node_id, at_id, chain_id, up_id, calls, cost)
SELECT
  :level + 1,
  node_id,
  at_id,
  MIN(node_id) OVER (PARTITION BY chain_id, function_id),
  chain_id,
  calls,
  cost
FROM (
  SELECT c.node_id, above.node_id AS at_id, above.function_id, c.chain_id, c.calls, c.cost
  FROM temp.ancestor_walk AS c
  CROSS JOIN temp.chains AS k
  CROSS JOIN temp.question_nodes AS n
  CROSS JOIN temp.question_nodes AS line
  CROSS JOIN temp.question_nodes AS above
  CROSS JOIN functions AS f
  WHERE c.level = :level
    AND (:depth IS NULL OR :level < :depth)
    AND k.level = :level
    AND k.chain_id = c.chain_id
    AND n.node_id = c.at_id
    AND line.node_id = n.parent_id
    AND above.node_id = CASE WHEN line.line IS NULL THEN line.node_id ELSE line.parent_id END
    -- So that a damaged tree does not lead in circles.
    AND above.node_id < n.node_id
    AND f.function_id = above.function_id
    AND f.kind IN ('function', 'pseudo')
);
