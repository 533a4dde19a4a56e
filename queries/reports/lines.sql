-- Calls and cost of every line, the most expensive first.
--
-- The cost of a line is part of the cost of its function.
--
-- :exclusive FLAG         show exclusive cost
-- :both FLAG              show exclusive and inclusive cost side by side. Text tables do so by default on a wide terminal
-- :avg FLAG               add a column with the cost per call
-- :cumpct FLAG            add a column with the running sum of the percentages
-- :code FLAG              add a column with the source of each line
-- :first COUNT ?          print only the first N rows
-- :pct PERCENTAGE ?       print rows until their percentages add up to N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  sort by this figure, largest first, or by name
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- metrics: all
--> element        NAME is=element text                        function and line
--> function       TEXT is=element csv xml json                the function
--> line           LINE is=line csv xml json                   the line
--> col            LINE json                                   its column or clause; NULL if unknown
--> cost           COST is=cost text csv xml unless=both       the selected cost
--> cost_pct       PERCENT is=percent text csv xml unless=both  selected cost, % of the run's total
--> own            COST is=own text csv xml when=both          exclusive cost
--> own_pct        PERCENT is=own_percent text csv when=both   exclusive cost, % of the run's total
--> whole          COST is=whole text csv xml when=both        inclusive cost, recursion counted once
--> whole_pct      PERCENT is=whole_percent text csv when=both  inclusive cost, % of the run's total
--> calls          COUNT is=calls text csv xml optional json   number of executions; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the selected cost per execution; NULL if calls is unknown or 0
--> code           TEXT is=code text csv xml json when=code    its source; NULL if unknown
--> module         TEXT json                                   module, package, program or library
--> file           TEXT is=file csv json optional              source file of the line
--> first_line     LINE is=first_line csv json optional        line where the definition of the function starts; NULL if unknown
--> line_file      TEXT                                        source file of the line if it differs from the function's
--> exclusive      COST json                                   exclusive cost
--> exclusive_pct  PERCENT json                                exclusive, % of the run's total
--> cumulative     COST json                                   inclusive cost, recursion counted once; NULL if unknown
--> cumulative_pct PERCENT json                                cumulative, % of the run's total
--> id             LINE                                        number of the function or group, which distinguishes rows with equal names
--> function_id    LINE is=function_id csv json optional       number of the function
WITH entries AS (
  SELECT f.name, f.module, IIF(i.file = '', f.file, i.file) AS file, f.first_line, NULL AS kind, i.function_id AS id, i.line, i.col,
    i.calls, i.exclusive, i.cumulative, NULL AS seen, $cost AS cost, $sort_key AS sort_key, $total AS total
  FROM $line_costs AS i CROSS JOIN $names AS f ON f.function_id = i.function_id
)
SELECT
  r.name || '[' || IIF(r.file = f.file, '', r.file || ':') || r.line || IIF(r.col = 0, '', ':' || r.col) || ']' AS element,
  r.name AS function, r.line AS line, NULLIF(r.col, 0) AS col, r.cost AS cost, r.cost_pct AS cost_pct, r.exclusive AS own,
  100 * r.exclusive / r.total AS own_pct, r.cumulative AS whole, 100 * r.cumulative / r.total AS whole_pct, r.calls AS calls,
  r.cum_pct AS cum_pct, r.cost / NULLIF(r.calls, 0) AS avg, $code AS code, r.module AS module, r.file AS file, NULLIF(r.first_line, 0) AS first_line,
  NULLIF(r.file, f.file) AS line_file, r.exclusive AS exclusive, 100 * r.exclusive / r.total AS exclusive_pct,
  r.cumulative AS cumulative, 100 * r.cumulative / r.total AS cumulative_pct, r.id AS id, r.id AS function_id
FROM ranked AS r JOIN $names AS f ON f.function_id = r.id$up_to
ORDER BY $sorted$first;
