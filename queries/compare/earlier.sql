-- Runs that are repeats of another one over time, the latest first, with what tells their positions apart: commits, or days. Their
-- order is by the first of these that all have: how many commits led to theirs, when it was made, when they were recorded, when
-- they were imported. With a second run, which is one of them, only those before the later of both.
WITH marked AS (
  SELECT r.run_id, r.recorded_utc, r.imported_at,
    (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit') AS revision,
    (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit_count') AS number,
    (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit_time') AS made
  FROM runs AS o
  CROSS JOIN runs AS r ON r.format = o.format AND r.title IS o.title
  WHERE o.run_id = :run
    AND (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'host')
      IS (SELECT t.value FROM run_tags AS t WHERE t.run_id = o.run_id AND t.key = 'host')
    AND (SELECT t.value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'branch')
      IS (SELECT t.value FROM run_tags AS t WHERE t.run_id = o.run_id AND t.key = 'branch')
),
read AS (
  SELECT run_id, revision, number, recorded_utc, imported_at, IIF(number NOT GLOB '*[^0-9]*', CAST(number AS INTEGER), NULL) AS commit_count,
    IIF(made NOT GLOB '*[^0-9]*', CAST(made AS INTEGER), UNIXEPOCH(made)) AS commit_time
  FROM marked
),
known AS (
  SELECT COUNT(*) = COUNT(commit_count) AS by_count, COUNT(*) = COUNT(commit_time) AS by_time,
    COUNT(*) = COUNT(recorded_utc) AS by_record
  FROM read
),
ordered AS (
  SELECT run_id, COALESCE('commit_count=' || number, 'commit=' || revision, SUBSTR(recorded_utc, 1, 10), SUBSTR(imported_at, 1, 10)) AS position,
    CASE WHEN by_count THEN commit_count WHEN by_time THEN commit_time WHEN by_record THEN recorded_utc ELSE imported_at END AS place
  FROM known
  CROSS JOIN read
)
SELECT run_id, position
FROM ordered
WHERE run_id NOT IN (:run, COALESCE(:second, :run))
  AND (:second IS NULL
    OR (place, run_id) < (SELECT place, run_id FROM ordered WHERE run_id IN (:run, :second) ORDER BY place DESC, run_id DESC LIMIT 1))
ORDER BY place DESC, run_id DESC;
