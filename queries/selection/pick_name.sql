-- The functions of a run that have exactly this name. A thread of the name is meant only where no function has it: the
-- writers of some formats call a thread and the frames that they cannot name alike.
INSERT INTO temp.picked (step, function_id)
SELECT :step, f.function_id
FROM functions AS f
CROSS JOIN runs AS r
CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id AND i.function_id = f.function_id
WHERE r.run_id = :run AND f.name = :name
  AND (f.kind <> 'thread' OR NOT EXISTS (
    SELECT 1
    FROM functions AS g
    CROSS JOIN function_info AS j ON j.metric_id = r.default_metric_id AND j.function_id = g.function_id
    WHERE g.name = :name AND g.kind <> 'thread'
  ));
