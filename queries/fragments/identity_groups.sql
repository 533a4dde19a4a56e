-- Identities instead of functions: functions that match across builds form a group.

-- Functions with the same identity form a group, whose number is that of its first function.
group_of AS (
  SELECT f.function_id, MIN(f.function_id) OVER (PARTITION BY f.identity_id) AS group_id
  FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f
  WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id
    AND f.kind IN ('function', 'pseudo')
)

-- Names of the groups.
names AS (
  SELECT f.function_id, d.name, d.module, d.file, 0 AS first_line, 'identity' AS kind
  FROM functions AS f CROSS JOIN identities AS d
  WHERE d.identity_id = f.identity_id
)
