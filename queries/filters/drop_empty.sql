-- Deletes nodes without a kept node in their subtree.
DELETE FROM temp.visible
WHERE kept = 0
  AND kept_before = (SELECT last.kept_before FROM temp.visible AS last WHERE last.node_id = visible.last_id);
