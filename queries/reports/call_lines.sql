-- Lines that call a function, with calls and cost of each.
--
-- :exclusive FLAG         show exclusive cost
-- :avg FLAG               add a column with the cost per call
-- :cumpct FLAG            add a column with the running sum of the percentages
-- :code FLAG              add a column with the source of each calling line
-- :first COUNT ?          print only the first N rows
-- :pct PERCENTAGE ?       print rows until their percentages add up to N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  sort by this figure, largest first, or by name
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
--> element        NAME is=element text                        the calling function and line, or (root)
--> name           TEXT is=element csv xml                     the calling function, or (root)
--> caller_line    LINE is=line csv xml json                   the calling line; NULL if unknown
--> caller_col     LINE json                                   its column or clause; NULL if unknown
--> cost           COST is=cost text csv xml                   the selected cost
--> cost_pct       PERCENT is=percent text csv xml             selected cost, % of the run's total
--> calls          COUNT is=calls text csv xml optional json   number of calls by the caller; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the selected cost per call; NULL if calls is unknown or 0
--> code           TEXT is=code text csv xml json when=code    source of the calling line; NULL if unknown
--> caller         TEXT json                                   the calling function; NULL at the root
--> caller_module  TEXT json                                   its module; NULL at the root
--> caller_file    TEXT json                                   its source file; NULL at the root
--> file           TEXT is=file csv json optional              source file of the calling line
--> caller_first_line LINE is=first_line csv json optional     line where its definition starts; NULL if unknown
--> line_file      TEXT json                                   source file of the line if it differs from the caller's; else NULL
--> kind           TEXT json                                   call, or back: a call without a known cost of its own
--> exclusive      COST json                                   exclusive cost of the called function in these calls
--> cumulative     COST json                                   inclusive cost of the called function in these calls
--> cumulative_pct PERCENT json                                cumulative, % of the run's total
--> id             LINE                                        number of the function or group, which distinguishes rows with equal names
--> function_id    LINE is=function_id csv json optional       number of the calling function; NULL at the root
WITH callers AS (
  SELECT e.caller_id, e.line_file, e.line, e.col, e.kind,
    CASE COUNT(*) WHEN COUNT(e.calls)
      THEN SUM(e.calls / 4294967296) * 4294967296 + SUM(e.calls - e.calls / 4294967296 * 4294967296) END AS calls,
    CASE COUNT(*) WHEN COUNT(e.exclusive) THEN SUM(e.exclusive) END AS exclusive,
    CASE COUNT(*) WHEN COUNT(e.cumulative) THEN SUM(e.cumulative) END AS cumulative
  FROM callers_of_selection AS e
  GROUP BY e.caller_id, e.line_file, e.line, e.col, e.kind
),
entries AS (
  SELECT COALESCE(f.name, '(root)') AS name, f.module, COALESCE(i.line_file, f.file) AS file, f.first_line, i.kind, i.caller_id AS id, i.line, i.col,
    i.calls, i.exclusive, i.cumulative, NULL AS seen, $cost AS cost, $sort_key AS sort_key, $total AS total
  FROM callers AS i LEFT JOIN functions AS f ON f.function_id = i.caller_id
)
SELECT
  r.name || COALESCE('[' || IIF(r.file = f.file, '', r.file || ':') || r.line || COALESCE(':' || r.col, '') || ']', '') AS element, r.name AS name,
  r.line AS caller_line, r.col AS caller_col, r.cost AS cost, r.cost_pct AS cost_pct, r.calls AS calls,
  r.cum_pct AS cum_pct, r.cost / NULLIF(r.calls, 0) AS avg, $code AS code, IIF(r.id = 0, NULL, r.name) AS caller,
  r.module AS caller_module, f.file AS caller_file, r.file AS file, NULLIF(r.first_line, 0) AS caller_first_line,
  NULLIF(r.file, f.file) AS line_file, r.kind AS kind, r.exclusive AS exclusive,
  r.cumulative AS cumulative, 100 * r.cumulative / r.total AS cumulative_pct, r.id AS id, NULLIF(r.id, 0) AS function_id
FROM ranked AS r LEFT JOIN functions AS f ON f.function_id = r.id$up_to
ORDER BY $sorted$first;
