-- Aggregates by label set first, as there are many more nodes than sets.
SELECT x.run_uid AS run_uid, COALESCE(r.title, r.source_name) AS run, x.metric AS metric, m.unit AS unit, x.key AS key,
  x.value AS value, x.value_unit AS value_unit, f.name AS function, f.module AS module, f.file AS file, x.exclusive AS exclusive,
  100 * x.exclusive / NULLIF(m.total, 0) AS pct, x.function_key AS function_key,
  NULLIF(f.first_line, 0) AS first_line
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN (
  SELECT y.run_uid, y.metric, s.key, COALESCE(s.text, CAST(s.number AS TEXT)) AS value, s.unit AS value_unit, y.function_key,
    SUM(y.exclusive) AS exclusive
  FROM (
    SELECT c.run_uid, c.metric, c.set_id, n.function_key, SUM(c.exclusive) AS exclusive
    FROM node_labels AS c
    JOIN nodes AS n ON n.run_uid = c.run_uid AND n.node_id = c.node_id AND n.line IS NULL
    GROUP BY c.run_uid, c.metric, c.set_id, n.function_key
  ) AS y
  JOIN label_sets AS s ON s.run_uid = y.run_uid AND s.set_id = y.set_id
  GROUP BY y.run_uid, y.metric, s.key, COALESCE(s.text, CAST(s.number AS TEXT)), s.unit, y.function_key
) AS x ON x.run_uid = m.run_uid AND x.metric = m.metric
JOIN functions AS f ON f.run_uid = x.run_uid AND f.function_key = x.function_key
