SELECT i.run_uid AS run_uid, t.position AS position, t.commit_id AS commit_id, t.branch AS branch, t.host AS host,
  r.recorded_at AS recorded_at, i.metric AS metric, m.unit AS unit, i.name AS function, i.module AS module, i.file AS file,
  CASE WHEN i.functions = i.known THEN i.calls END AS calls, i.exclusive AS exclusive,
  100 * i.exclusive / NULLIF(m.total, 0) AS exclusive_pct, CASE WHEN i.functions = 1 THEN i.cumulative END AS cumulative,
  100 * CASE WHEN i.functions = 1 THEN i.cumulative END / NULLIF(m.total, 0) AS cumulative_pct, m.total AS total,
  i.functions AS functions, i.identity_key AS identity_key, r.recorded_utc AS recorded_utc
FROM runs AS r
JOIN metrics AS m ON m.run_uid = r.run_uid
JOIN identity_info AS i ON i.run_uid = m.run_uid AND i.metric = m.metric
LEFT JOIN (
  SELECT g.run_uid, MAX(CASE WHEN g.key = 'commit_count' THEN WHOLE(g.value) END) AS position,
    MAX(CASE WHEN g.key = 'commit' THEN g.value END) AS commit_id, MAX(CASE WHEN g.key = 'branch' THEN g.value END) AS branch,
    MAX(CASE WHEN g.key = 'host' THEN g.value END) AS host
  FROM run_tags AS g
  GROUP BY g.run_uid
) AS t ON t.run_uid = r.run_uid
