-- Who led to a cost: functions with their callers, the callers of those, and so on, the most expensive first.
-- Without --fn every function begins with its own cost; with it, the function asked for begins with all its cost. The
-- costs of callers are parts of the cost of what they call.
--
-- :exclusive FLAG         own cost also of the function that --fn names
-- :depth COUNT = 20       only so many levels of callers
-- :min_pct PERCENTAGE = 0.5  only chains that make up at least N % of the run's total, or of what --percent-of says
-- :first COUNT ?          only the first functions, with their callers
-- :thread THREAD ?        only what happened in this thread: its name, PROCESS/THREAD, or the end of it that no other has
-- :fn PATH ?              the function to begin with; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :label LABEL ?          only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
-- needs: tree
-- about: function
--> depth    LINE is=depth csv xml json                 0 for the functions that the report begins with, 1 for their callers
--> element  NODE is=element text                       the function
--> function TEXT is=element csv xml json               the function
--> cost     COST is=part text csv xml json             what reached the first function of the chain by way of this one
--> pct      PERCENT is=percent text csv xml json       the same, % of the run's total
--> calls    COUNT is=calls text csv xml optional json  calls of the first function that came this way; NULL if unknown
--> module   TEXT json                                  its module, package, program or library
--> file     TEXT json                                  its source file
WITH walk AS (
  SELECT 0 AS level, n.node_id AS at_id, '' AS up, '/' || n.function_id AS chain, n.function_id, n.calls, $start_cost AS cost
  FROM $starts CROSS JOIN functions AS f
  WHERE f.function_id = n.function_id$in_starts$start_kinds
  UNION ALL
  SELECT w.level + 1, above.node_id, w.chain, w.chain || '/' || f.function_id, f.function_id, w.calls, w.cost
  FROM walk AS w CROSS JOIN $linked_nodes AS n CROSS JOIN nodes AS line CROSS JOIN nodes AS above CROSS JOIN functions AS f
  WHERE n.node_id = w.at_id AND line.node_id = n.parent_id AND line.node_id < n.node_id AND f.function_id = above.function_id
    AND above.node_id = IIF(line.line IS NULL, line.node_id, line.parent_id) AND f.kind IN ('function', 'pseudo')$walk_limit
),
chains AS (
  SELECT level, up, chain, name, module, file, SUM(cost) AS cost, IIF(COUNT(*) = COUNT(calls), SUM(calls / 4294967296) * 4294967296 + SUM(calls % 4294967296), NULL) AS calls,
    ROW_NUMBER() OVER (PARTITION BY up ORDER BY SUM(cost) DESC, name, module, file, function_id) AS rank
  FROM walk AS w CROSS JOIN functions AS f USING (function_id) GROUP BY w.chain$min_pct_chain
),
shown AS (
  SELECT '' AS chain, '' AS place, -1 AS level, '' AS name, '' AS module, '' AS file, NULL AS calls, NULL AS cost
  UNION ALL
  SELECT k.chain, s.place || PRINTF('.%09d', k.rank), k.level, k.name, k.module, k.file, k.calls, k.cost
  FROM shown AS s CROSS JOIN chains AS k WHERE k.up = s.chain$first_chains
)
SELECT s.level AS depth, s.name AS element, s.name AS function, s.cost AS cost, 100 * s.cost / $total AS pct, s.calls AS calls,
  s.module AS module, s.file AS file FROM shown AS s WHERE s.level >= 0 ORDER BY s.place;
