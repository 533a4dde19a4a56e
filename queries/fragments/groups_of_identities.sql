-- Modules or files of identities instead of functions.

-- Functions whose identities have the same $group_word form a group, whose number is that of its first function.
group_of AS (
  SELECT f.function_id, MIN(f.function_id) OVER (PARTITION BY d.$group_word) AS group_id
  FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f CROSS JOIN identities AS d
  WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id
    AND f.kind IN ('function', 'pseudo') AND d.identity_id = f.identity_id
)

-- Names of the groups.
names AS (
  SELECT function_id, IIF($group_word = '', '($group_word unknown)', $group_word) AS name, $group_module AS module,
    $group_file AS file, 0 AS first_line, '$group_word' AS kind
  FROM (
    SELECT f.function_id, d.module, d.file FROM functions AS f CROSS JOIN identities AS d WHERE d.identity_id = f.identity_id
  )
)
