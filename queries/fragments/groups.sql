-- Modules or files instead of functions.

-- Functions with the same $group_word form a group, whose number is that of its first function.
group_of AS (
  SELECT f.function_id, MIN(f.function_id) OVER (PARTITION BY f.$group_word) AS group_id
  FROM runs AS r CROSS JOIN function_info AS i CROSS JOIN functions AS f
  WHERE r.run_id = :run AND i.metric_id = r.default_metric_id AND f.function_id = i.function_id
    AND f.kind IN ('function', 'pseudo')
)

-- Names of the groups.
names AS (
  SELECT function_id, IIF($group_word = '', '($group_word unknown)', $group_word) AS name, $group_module AS module,
    $group_file AS file, 0 AS first_line, '$group_word' AS kind
  FROM functions
)
