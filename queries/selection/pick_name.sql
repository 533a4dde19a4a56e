-- The functions of a run that have exactly this name. A container (a thread, a root) is meant only where no function has
-- the name: some formats give a thread and its unnamed frames one name.
INSERT INTO temp.picked (step, function_id)
SELECT :step, f.function_id
FROM functions AS f
CROSS JOIN runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
WHERE r.run_id = :run
  AND f.name = :name
  AND (
    f.kind IN ('function', 'pseudo')
    OR NOT EXISTS (
      SELECT 1
      FROM functions AS other
      CROSS JOIN function_info AS said
        ON said.metric_id = r.default_metric_id AND said.function_id = other.function_id
      WHERE other.name = :name AND other.kind IN ('function', 'pseudo')
    )
  );
