-- The labels of the samples of a run: a value is text or a whole number.
SELECT set_id, key, CASE typeof(value) WHEN 'integer' THEN NULL ELSE CAST(value AS TEXT) END AS text,
  CASE typeof(value) WHEN 'integer' THEN value END AS number, unit
FROM label_sets
WHERE run_id = :run;
