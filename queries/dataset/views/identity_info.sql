-- Costs of a run by identity. Several functions may share an identity.
SELECT i.run_uid AS run_uid, i.metric AS metric, f.identity_key AS identity_key, MIN(f.identity_name) AS name,
  MIN(f.identity_module) AS module, MIN(f.identity_file) AS file, COUNT(*) AS functions, COUNT(i.calls) AS known,
  SUM(i.calls) AS calls, COALESCE(SUM(i.exclusive), 0.0) AS exclusive, MAX(i.cumulative) AS cumulative
FROM runs AS r
JOIN function_info AS i ON i.run_uid = r.run_uid
JOIN functions AS f ON f.run_uid = i.run_uid AND f.function_key = i.function_key
WHERE f.kind IN ('function', 'pseudo')
GROUP BY i.run_uid, i.metric, f.identity_key
