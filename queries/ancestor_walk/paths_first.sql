-- The places with the highest own cost.
INSERT INTO temp.paths (node_id, at_id, frames, path, calls, exclusive, cumulative)
SELECT n.node_id, n.node_id, 1, f.name, n.calls, n.exclusive, n.cumulative
FROM temp.question AS q
CROSS JOIN temp.places AS n
CROSS JOIN functions AS f
WHERE q.question_id = 1
  AND f.function_id = n.function_id
  AND n.line IS NULL
  AND f.kind IN ('function', 'pseudo')
  AND n.exclusive <> 0
  AND (:min_pct IS NULL OR 100 * n.exclusive / NULLIF(q.total, 0) >= :min_pct)
ORDER BY n.exclusive DESC, n.node_id
LIMIT COALESCE(:first, -1);
