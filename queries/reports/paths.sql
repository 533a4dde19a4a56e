-- The hottest chains of calls: where in the tree the most was spent, from the root down, by own cost.
--
-- :first COUNT = 10       only the first rows
-- :depth COUNT = 100      only so many functions of the way, the nearest ones
-- :min_pct PERCENTAGE ?   only places that cost at least N % of the run's total themselves
-- :thread THREAD ?        only what happened in this thread: its name, or the end of it that no other has
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :tag LABEL ?            only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
-- needs: tree
--> exclusive  COST is=exclusive text csv xml json           own cost of the last function at this place
--> pct        PERCENT is=percent text csv xml json          the same, % of the run's total
--> cum_pct    PERCENT is=running_percent text csv xml json  sum of pct over this row and all before it
--> calls      COUNT is=calls text csv xml optional json     how often it was called there; NULL if unknown
--> cumulative COST json                                     cost with what it called there
--> frames     LINE json                                     functions on the way, with the last one
--> path       TEXT is=path text csv xml json                their names, with the calling lines where known; ... where it begins further up
--> node_id    LINE json                                     number of the node
SELECT
  t.exclusive AS exclusive,
  100 * t.exclusive / NULLIF(q.total, 0) AS pct,
  SUM(100 * t.exclusive / NULLIF(q.total, 0))
    OVER (ORDER BY t.exclusive DESC, t.node_id ROWS UNBOUNDED PRECEDING) AS cum_pct,
  t.calls AS calls,
  t.cumulative AS cumulative,
  t.frames AS frames,
  CASE WHEN n.parent_id IS NULL THEN '' ELSE '... > ' END || t.path AS path,
  t.node_id AS node_id
FROM temp.question AS q
CROSS JOIN temp.paths AS t
CROSS JOIN temp.question_nodes AS n
WHERE q.question_id = 1 AND n.node_id = t.at_id
ORDER BY t.exclusive DESC, t.node_id;
