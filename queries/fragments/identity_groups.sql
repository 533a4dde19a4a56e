-- Identities in place of functions: what is one function whatever the build.

-- Functions of one identity are counted as one, whose number is that of the first.
group_of AS (
  SELECT f.function_id, MIN(f.function_id) OVER (PARTITION BY f.identity_id) AS group_id
  FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f
  WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id
    AND f.kind IN ('function', 'pseudo')
)

-- What they are called.
names AS (
  SELECT f.function_id, d.name, d.module, d.file, 0 AS first_line, 'identity' AS kind
  FROM functions AS f CROSS JOIN identities AS d
  WHERE d.identity_id = f.identity_id
)
