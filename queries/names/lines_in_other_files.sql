-- Whether a line of a run is in another file than its function.
SELECT EXISTS (
  SELECT 1
  FROM runs AS r
  CROSS JOIN line_info AS i ON i.metric_id = r.default_metric_id
  WHERE r.run_id = :run AND i.file <> ''
);
