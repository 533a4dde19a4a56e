-- Whether no two functions or lines of a run look alike: then nothing needs to be told apart by module or file.
SELECT
  (
    SELECT COUNT(DISTINCT f.name) = COUNT(*) AND COALESCE(MAX(f.name GLOB '*[0-9]]'), 0) = 0
    FROM runs AS r
    CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
    CROSS JOIN functions AS f ON f.function_id = i.function_id
    WHERE r.run_id = :run
  )
  AND NOT EXISTS (
    SELECT 1
    FROM runs AS r
    CROSS JOIN line_info AS i ON i.metric_id = r.default_metric_id
    WHERE r.run_id = :run AND i.file <> ''
  );
