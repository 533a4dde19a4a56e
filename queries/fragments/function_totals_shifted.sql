-- Calls and costs of functions in the whole run, for another timer bias. All functions have a row in the default metric;
-- one without time or without readings of the timer has no row for them.
SELECT
  i.function_id, i.calls,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
    + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END AS exclusive,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
    + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END AS cumulative
FROM question AS q CROSS JOIN function_info AS i
LEFT JOIN function_info AS c ON c.metric_id = q.metric_id AND c.function_id = i.function_id
LEFT JOIN function_info AS t ON t.metric_id = q.readings_id AND t.function_id = i.function_id
WHERE i.metric_id = q.default_metric_id$picked
