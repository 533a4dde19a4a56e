-- Runs that are repeats of another one over time, the one imported last first, with what tells their positions apart: commits,
-- or days.
SELECT r.run_id, COALESCE(
    (SELECT 'commit_count=' || t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit_count'),
    (SELECT 'commit=' || t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit'),
    SUBSTR(r.recorded_utc, 1, 10), SUBSTR(r.imported_at, 1, 10)) AS position
FROM runs AS o
CROSS JOIN runs AS r ON r.run_id <> o.run_id AND r.format = o.format AND r.title IS o.title
WHERE o.run_id = :run
  AND (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'host')
    IS (SELECT t.value FROM run_tags AS t WHERE t.run_id = o.run_id AND t.key = 'host')
  AND (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'branch')
    IS (SELECT t.value FROM run_tags AS t WHERE t.run_id = o.run_id AND t.key = 'branch')
ORDER BY r.run_id DESC;
