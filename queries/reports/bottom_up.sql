-- Callers of expensive functions, and their callers, the most expensive first.
--
-- Without --fn every function starts with its exclusive cost; with --fn the named function starts with its inclusive cost.
-- The costs of callers are parts of the cost of their callee.
--
-- :exclusive FLAG         start from the exclusive cost of the function of --fn
-- :depth COUNT = 20       print at most N levels of callers
-- :min_pct PERCENTAGE = 0.5  only call chains of N % or more. The percentage is of the total, or of the selection with --percent-of selection
-- :first COUNT ?          print only the first N functions, with their callers
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              the function to start from: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- needs: tree
-- about: function
--> depth    LINE is=depth csv xml json                 0 for the starting functions, 1 for their callers
--> element  NODE is=element text                       the function
--> function TEXT is=element csv xml json               the function
--> cost     COST is=part text csv xml json             cost of the first function of the chain through this one
--> pct      PERCENT is=percent text csv xml json       cost, % of the run's total
--> calls    COUNT is=calls text csv xml optional json  calls of the first function through this one; NULL if unknown
--> module   TEXT json                                  its module, package, program or library
--> file     TEXT is=file csv json optional             its source file
--> first_line LINE is=first_line csv json optional     line where its definition starts; NULL if unknown
--> function_id LINE is=function_id csv json optional   number of the function
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
  SELECT level, up, chain, name, module, file, first_line, function_id, SUM(cost) AS cost, IIF(COUNT(*) = COUNT(calls), SUM(calls / 4294967296) * 4294967296 + SUM(calls % 4294967296), NULL) AS calls,
    ROW_NUMBER() OVER (PARTITION BY up ORDER BY SUM(cost) DESC, name, module, file, function_id) AS rank
  FROM walk AS w CROSS JOIN functions AS f USING (function_id) GROUP BY w.chain$min_pct_chain
),
shown AS (
  SELECT '' AS chain, '' AS place, -1 AS level, '' AS name, '' AS module, '' AS file, NULL AS first_line, NULL AS function_id, NULL AS calls, NULL AS cost
  UNION ALL
  SELECT k.chain, s.place || PRINTF('.%09d', k.rank), k.level, k.name, k.module, k.file, k.first_line, k.function_id, k.calls, k.cost
  FROM shown AS s CROSS JOIN chains AS k WHERE k.up = s.chain$first_chains
)
SELECT s.level AS depth, s.name AS element, s.name AS function, s.cost AS cost, 100 * s.cost / $total AS pct, s.calls AS calls,
  s.module AS module, s.file AS file, NULLIF(s.first_line, 0) AS first_line, s.function_id AS function_id FROM shown AS s WHERE s.level >= 0 ORDER BY s.place;
