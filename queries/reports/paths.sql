-- The most expensive call paths, by exclusive cost.
--
-- :first COUNT = 10       print only the first N rows
-- :depth COUNT = 100      print at most the last N functions of a path
-- :min_pct PERCENTAGE ?   only paths with an exclusive cost of N % or more. The percentage is of the total, or of the selection with --percent-of selection
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- needs: tree
--> exclusive  COST is=exclusive text csv xml json           exclusive cost of the last function on this path
--> pct        PERCENT is=percent text csv xml json          exclusive, % of the run's total
--> cum_pct    PERCENT is=running_percent text csv xml json  sum of pct over this row and all before it
--> calls      COUNT is=calls text csv xml optional json     number of calls on this path; NULL if unknown
--> cumulative COST json                                     inclusive cost of the node
--> frames     LINE json                                     number of functions on the path, including the last one
--> path       TEXT is=path text csv xml json                names of the functions, with known calling lines; ... if the path is longer
--> node_id    LINE json                                     number of the node
WITH hottest AS (
  SELECT n.node_id, n.parent_id, n.line, n.calls, $place_own AS exclusive, $place_all AS cumulative, f.name, $total AS total
  FROM $places CROSS JOIN functions AS f
  WHERE $in_places AND n.line IS NULL AND $place_own <> 0
    AND f.function_id = n.function_id AND f.kind IN ('function', 'pseudo')$min_pct_node
  ORDER BY exclusive DESC, n.node_id$first
),
way AS (
  SELECT node_id, calls, exclusive, cumulative, total, node_id AS at_id, parent_id, line, 1 AS frames, name AS path FROM hottest
  UNION ALL
  SELECT w.node_id, w.calls, w.exclusive, w.cumulative, w.total, n.node_id, n.parent_id, n.line, w.frames + (w.line IS NULL),
    IIF(w.line IS NULL,
      f.name || COALESCE('[' || COALESCE(n.file || ':', '') || n.line || COALESCE(':' || n.col, '') || ']', '') || ' > ', '') || w.path
  FROM way AS w CROSS JOIN $linked_nodes AS n CROSS JOIN functions AS f
  WHERE n.node_id = w.parent_id AND n.node_id < w.at_id AND f.function_id = n.function_id$way_limit
),
ways AS (
  SELECT node_id, MIN(at_id), calls, exclusive, cumulative, total, parent_id, frames, path FROM way GROUP BY node_id
)
SELECT w.exclusive AS exclusive, 100 * w.exclusive / w.total AS pct,
  SUM(100 * w.exclusive / w.total) OVER (ORDER BY w.exclusive DESC, w.node_id ROWS UNBOUNDED PRECEDING) AS cum_pct,
  w.calls AS calls, w.cumulative AS cumulative, w.frames AS frames,
  IIF(w.parent_id IS NULL, '', '... > ') || w.path AS path, w.node_id AS node_id
FROM ways AS w ORDER BY w.exclusive DESC, w.node_id;
