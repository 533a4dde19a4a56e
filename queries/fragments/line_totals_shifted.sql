-- Calls and costs of lines in the whole run, for another timer bias.
SELECT
  i.function_id, i.file, i.line, i.col, i.calls,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.exclusive END
    + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END AS exclusive,
  CASE WHEN c.function_id IS NULL THEN 0.0 ELSE c.cumulative END
    + :shift * CASE WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END AS cumulative
FROM question AS q CROSS JOIN line_info AS i
LEFT JOIN line_info AS c
  ON c.metric_id = q.metric_id AND c.function_id = i.function_id AND c.file = i.file AND c.line = i.line AND c.col = i.col
LEFT JOIN line_info AS t
  ON t.metric_id = q.readings_id AND t.function_id = i.function_id AND t.file = i.file AND t.line = i.line AND t.col = i.col
WHERE i.metric_id = q.default_metric_id$picked
