-- Calls and cost of every function, the most expensive first.
--
-- :exclusive FLAG         show exclusive cost
-- :both FLAG              show exclusive and inclusive cost side by side. Text tables do so by default on a wide terminal
-- :seen FLAG              add the cost with every level of recursion counted. This is the Seen-Count of Apple's Sampler
-- :lines VARIANT lines  print one row per line instead of one per function
-- :code VARIANT lines   print one row per line, with its source
-- :avg FLAG               add a column with the cost per call
-- :cumpct FLAG            add a column with the running sum of the percentages
-- :first COUNT ?          print only the first N rows
-- :pct PERCENTAGE ?       print rows until their percentages add up to N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  sort by this figure, largest first, or by name
-- :by GROUPS function|identity|module|file|thread|process|label:KEY = function  print one row per group. `identity` groups functions that match across builds; `label:KEY` groups by the value of a label
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- metrics: all
--> function       NAME is=element text csv xml json           the function
--> line           LINE is=line csv xml                        always empty: see report lines
--> cost           COST is=cost text csv xml unless=both       the selected cost
--> cost_pct       PERCENT is=percent text csv xml unless=both  selected cost, % of the run's total
--> own            COST is=own text csv xml when=both          exclusive cost
--> own_pct        PERCENT is=own_percent text csv when=both   exclusive cost, % of the run's total
--> whole          COST is=whole text csv xml when=both        inclusive cost, recursion counted once
--> whole_pct      PERCENT is=whole_percent text csv when=both  inclusive cost, % of the run's total
--> seen           COST is=seen text csv xml json when=seen    inclusive cost, every level of recursion counted; NULL if unknown
--> calls          COUNT is=calls text csv xml optional json   number of calls; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the selected cost per call; NULL if calls is unknown or 0
--> module         TEXT json                                   its module, package, program or library
--> file           TEXT is=file csv json optional              its source file
--> first_line     LINE is=first_line csv json optional        line where its definition starts; NULL if unknown
--> kind           TEXT json                                   function or pseudo; module, file, thread, process or label with --by
--> exclusive      COST json                                   exclusive cost
--> exclusive_pct  PERCENT json                                exclusive, % of the run's total
--> cumulative     COST json                                   inclusive cost, recursion counted once
--> cumulative_pct PERCENT json                                cumulative, % of the run's total
--> id             LINE                                        number of the function or group, which distinguishes rows with equal names
--> function_id    LINE is=function_id csv json optional       number of the function; NULL for groups of functions
WITH entries AS (
  SELECT f.name, f.module, f.file, f.first_line, f.kind, i.function_id AS id, NULL AS line, NULL AS col, i.calls, i.exclusive,
    i.cumulative, i.seen, $cost AS cost, $sort_key AS sort_key, $total AS total
  FROM function_costs AS i CROSS JOIN $names AS f
  WHERE f.function_id = i.function_id$listed
)
SELECT
  r.name AS function, NULL AS line, r.cost AS cost, r.cost_pct AS cost_pct,
  r.exclusive AS own, 100 * r.exclusive / r.total AS own_pct, r.cumulative AS whole,
  100 * r.cumulative / r.total AS whole_pct, r.seen AS seen, r.calls AS calls, r.cum_pct AS cum_pct,
  r.cost / NULLIF(r.calls, 0) AS avg, r.module AS module, r.file AS file, NULLIF(r.first_line, 0) AS first_line, r.kind AS kind, r.exclusive AS exclusive,
  100 * r.exclusive / r.total AS exclusive_pct, r.cumulative AS cumulative, 100 * r.cumulative / r.total AS cumulative_pct, r.id AS id, $function_id AS function_id
FROM ranked AS r$up_to
ORDER BY $sorted$first;
