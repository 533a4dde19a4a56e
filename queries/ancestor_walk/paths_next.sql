-- Goes one node up. A line node is shown as its function with the line; the function node above it then adds no frame.
UPDATE temp.paths
SET
  at_id = above.node_id,
  frames = frames + above.is_frame,
  path = above.name || path
FROM (
  SELECT
    t.node_id AS from_id,
    up.node_id,
    n.line IS NULL AS is_frame,
    CASE WHEN n.line IS NULL THEN
      f.name
        || COALESCE('[' || up.line || COALESCE(':' || up.col, '') || ']', '')
        || ' > '
    ELSE '' END AS name
  FROM temp.paths AS t
  CROSS JOIN temp.question_nodes AS n
  CROSS JOIN temp.question_nodes AS up
  CROSS JOIN functions AS f
  WHERE (:depth IS NULL OR t.frames < :depth OR n.line IS NOT NULL)
    AND n.node_id = t.at_id
    AND up.node_id = n.parent_id
    -- So that a damaged tree does not lead in circles.
    AND up.node_id < n.node_id
    AND f.function_id = up.function_id
) AS above
WHERE above.from_id = paths.node_id;
