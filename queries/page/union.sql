-- Both sides by call path: the names of the functions from the root. Costs are means over the runs of a side. profdb also
-- matches functions with different names, and separates changes from noise (docs/comparing.md).
WITH above AS (
  SELECT CAST(run_id AS INTEGER) AS run_id, node_id, GROUP_CONCAT(ancestor, ';') AS path
  FROM (
    SELECT a.run_id, a.node_id, a.ancestor
    FROM ancestors AS a
    WHERE a.run_id IN (:runs) AND a.metric = :metric
    ORDER BY a.run_id, a.node_id, a.depth
  )
  GROUP BY run_id, node_id
),
places AS (
  SELECT n.run_id, COALESCE(a.path || ';', '') || n.function AS path, n.cumulative, n.exclusive
  FROM function_tree AS n
  LEFT JOIN above AS a ON a.run_id = n.run_id AND a.node_id = n.node_id
  WHERE n.run_id IN (:runs) AND n.metric = :metric
)
SELECT p.path,
  SUM(IIF(p.run_id IN (:base), p.cumulative, 0.0)) / :count_of_base AS base,
  SUM(IIF(p.run_id IN (:new), p.cumulative, 0.0)) / :count_of_new AS new,
  SUM(IIF(p.run_id IN (:base), p.exclusive, 0.0)) / :count_of_base AS base_exclusive,
  SUM(IIF(p.run_id IN (:new), p.exclusive, 0.0)) / :count_of_new AS new_exclusive
FROM places AS p
GROUP BY p.path
ORDER BY p.path;
