-- Who led to a cost: functions with their callers, the callers of those, and so on, the most expensive first.
-- Without --fn every function begins with its own cost; with it, the function asked for begins with all its cost. The
-- costs of callers are parts of the cost of what they call.
--
-- :exclusive FLAG         own cost also of the function that --fn names
-- :depth COUNT = 20       only so many levels of callers
-- :min_pct PERCENTAGE = 0.5  only chains that make up at least N % of the run's total
-- :first COUNT ?          only the first functions, with their callers
-- :thread THREAD ?        only what happened in this thread: its name, or the end of it that no other has
-- :fn PATH ?              the function to begin with; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :tag LABEL ?            only samples with this label, KEY=VALUE or just KEY; several times: with all of them
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
SELECT
  k.level AS depth,
  f.name AS element,
  f.name AS function,
  k.cost AS cost,
  100 * k.cost / NULLIF(q.total, 0) AS pct,
  k.calls AS calls,
  f.module AS module,
  f.file AS file
FROM temp.question AS q
CROSS JOIN temp.chains AS k
CROSS JOIN functions AS f
WHERE q.question_id = 1 AND f.function_id = k.function_id
ORDER BY k.place;
