-- One node further up. A line stands for its function, which is then passed.
UPDATE temp.trails
SET
  at_id = above.node_id,
  frames = frames + above.is_frame,
  path = above.name || path
FROM (
  SELECT
    t.node_id AS trail,
    up.node_id,
    n.line IS NULL AS is_frame,
    CASE WHEN n.line IS NULL THEN
      f.name
        || COALESCE('[' || up.line || COALESCE(':' || up.col, '') || ']', '')
        || ' > '
    ELSE '' END AS name
  FROM temp.trails AS t
  CROSS JOIN temp.asked_nodes AS n
  CROSS JOIN temp.asked_nodes AS up
  CROSS JOIN functions AS f
  WHERE (:depth IS NULL OR t.frames < :depth OR n.line IS NOT NULL)
    AND n.node_id = t.at_id
    AND up.node_id = n.parent_id
    -- So that a damaged tree does not lead in circles.
    AND up.node_id < n.node_id
    AND f.function_id = up.function_id
) AS above
WHERE above.trail = trails.node_id;
