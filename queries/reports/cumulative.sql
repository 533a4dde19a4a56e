-- Functions by inclusive cost.
--
-- :pct PERCENTAGE ?       print rows until their percentages add up to N
-- :first COUNT ?          print only the first N rows
-- :by GROUPS function|identity|module|file|thread|process|label:KEY = function  print one row per group. `identity` groups functions that match across builds; `label:KEY` groups by the value of a label
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
--> rank       LINE json                                     1 for the most expensive function
--> function   NAME is=element text csv xml json             the function
--> line       LINE is=line csv xml                          always empty
--> cumulative COST is=cumulative text csv xml json          inclusive cost
--> pct        PERCENT is=percent text csv xml json          cumulative, % of the run's total
--> calls      COUNT is=calls text csv xml optional json     number of calls; NULL if unknown
--> module     TEXT json                                     its module, package, program or library
--> file       TEXT is=file csv json optional                its source file
--> first_line LINE is=first_line csv json optional          line where its definition starts; NULL if unknown
--> function_id LINE is=function_id csv json optional        number of the function; NULL for groups of functions
WITH entries AS (
  SELECT f.name, f.module, f.file, f.first_line, f.kind, i.function_id AS id, NULL AS line, NULL AS col, i.calls, i.exclusive,
    i.cumulative, NULL AS seen, i.cumulative AS cost, i.cumulative AS sort_key, $total AS total
  FROM function_costs AS i CROSS JOIN $names AS f
  WHERE f.function_id = i.function_id$listed
)
SELECT
  r.rank AS rank, r.name AS function, NULL AS line, r.cost AS cumulative, r.cost_pct AS pct, r.calls AS calls,
  r.module AS module, r.file AS file, NULLIF(r.first_line, 0) AS first_line, $function_id AS function_id
FROM ranked AS r$up_to
ORDER BY $sorted$first;
