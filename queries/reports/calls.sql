-- Functions that call a function, with calls and cost of each.
--
-- The costs add up to the cost of the called function.
--
-- :exclusive FLAG         show exclusive cost
-- :lines VARIANT call_lines  print one row per calling line
-- :code VARIANT call_lines   print one row per calling line, with its source
-- :avg FLAG               add a column with the cost per call
-- :cumpct FLAG            add a column with the running sum of the percentages
-- :first COUNT ?          print only the first N rows
-- :pct PERCENTAGE ?       print rows until their percentages add up to N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  sort by this figure, largest first, or by name
-- :by GROUPS function|identity|module|file = function  print one row per group of callers
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH                the called function: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- needs: edges
-- about: function
-- metrics: all
--> element        NAME is=element text csv xml                the calling function, or (root)
--> line           LINE is=line csv xml                        always empty: see report call_lines
--> cost           COST is=cost text csv xml                   the selected cost
--> cost_pct       PERCENT is=percent text csv xml             selected cost, % of the run's total
--> calls          COUNT is=calls text csv xml optional json   number of calls by the caller; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the selected cost per call; NULL if calls is unknown or 0
--> caller         TEXT json                                   the calling function; NULL at the root
--> caller_module  TEXT json                                   its module; NULL at the root
--> caller_file    TEXT is=file csv json optional              its source file; NULL at the root
--> caller_first_line LINE is=first_line csv json optional     line where its definition starts; NULL if unknown
--> kind           TEXT json                                   call, or back: a call without a known cost of its own
--> exclusive      COST json                                   exclusive cost of the called function in these calls
--> cumulative     COST json                                   inclusive cost of the called function in these calls
--> cumulative_pct PERCENT json                                cumulative, % of the run's total
--> id             LINE                                        number of the function or group, which distinguishes rows with equal names
--> function_id    LINE is=function_id csv json optional       number of the calling function; NULL at the root and for groups
WITH callers AS (
  SELECT $caller AS caller_id, e.kind,
    CASE COUNT(*) WHEN COUNT(e.calls)
      THEN SUM(e.calls / 4294967296) * 4294967296 + SUM(e.calls - e.calls / 4294967296 * 4294967296) END AS calls,
    CASE COUNT(*) WHEN COUNT(e.exclusive) THEN SUM(e.exclusive) END AS exclusive,
    CASE COUNT(*) WHEN COUNT(e.cumulative) THEN SUM(e.cumulative) END AS cumulative
  FROM callers_of_selection AS e$caller_groups
  GROUP BY $caller, e.kind
),
entries AS (
  SELECT COALESCE(f.name, '(root)') AS name, f.module, f.file, f.first_line, i.kind, i.caller_id AS id, NULL AS line, NULL AS col,
    i.calls, i.exclusive, i.cumulative, NULL AS seen, $cost AS cost, $sort_key AS sort_key, $total AS total
  FROM callers AS i LEFT JOIN $names AS f ON f.function_id = i.caller_id
)
SELECT
  r.name AS element, NULL AS line, r.cost AS cost, r.cost_pct AS cost_pct, r.calls AS calls, r.cum_pct AS cum_pct,
  r.cost / NULLIF(r.calls, 0) AS avg, IIF(r.id = 0, NULL, r.name) AS caller, r.module AS caller_module,
  r.file AS caller_file, NULLIF(r.first_line, 0) AS caller_first_line, r.kind AS kind, r.exclusive AS exclusive, r.cumulative AS cumulative,
  100 * r.cumulative / r.total AS cumulative_pct, r.id AS id, $function_id AS function_id
FROM ranked AS r$up_to
ORDER BY $sorted$first;
