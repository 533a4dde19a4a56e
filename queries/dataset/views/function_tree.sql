-- Function nodes have no file of their own.
SELECT t.run_uid AS run_uid, t.metric AS metric, t.node_id AS node_id, t.parent_id AS parent_id, t.last_id AS last_id,
  t.outer_id AS outer_id, t.depth AS depth, t.function AS function, t.module AS module, t.file AS file, t.calls AS calls,
  t.exclusive AS exclusive, t.cumulative AS cumulative, t.kind AS kind,
  t.function_key AS function_key, t.first_line AS first_line
FROM tree AS t
WHERE t.line IS NULL
