-- Calls and cost of every function, the most expensive first.
--
-- :exclusive FLAG         cost of the function itself, without what it called
-- :both FLAG              own cost, and cost with everything called, side by side; tables do so by themselves on a terminal that is wide enough
-- :seen FLAG              a column with the cost of every level of recursion, as Seen-Count of Apple's Sampler has it
-- :lines VARIANT lines  one row per line instead of one per function
-- :code VARIANT lines   the source of every line, which the rows then are
-- :avg FLAG               a column with the cost per call
-- :cumpct FLAG            a column with the running sum of the percentages
-- :first COUNT ?          only the first rows
-- :pct PERCENTAGE ?       only the rows up to which the percentages add up to at most N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  what comes first: the largest figure, or the name
-- :by GROUPS function|identity|module|file|thread|process|label:KEY = function  one row per function, identity (functions that are one whatever the build), module, file, thread, process or value of a label
-- :thread THREAD ?        only what happened in this thread: its name, PROCESS/THREAD, or the end of it that no other has
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :label LABEL ?          only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
-- metrics: all
--> function       NAME is=element text csv xml json           the function
--> line           LINE is=line csv xml                        always empty: see report lines
--> cost           COST is=cost text csv xml unless=both       the cost asked for
--> cost_pct       PERCENT is=percent text csv xml unless=both       the same, % of the run's total
--> own            COST is=own text csv xml when=both          cost of the function itself
--> own_pct        PERCENT is=own_percent text csv when=both   the same, % of the run's total
--> whole          COST is=whole text csv xml when=both        cost with what it called, recursion counted once
--> whole_pct      PERCENT is=whole_percent text csv when=both  the same, % of the run's total
--> seen           COST is=seen text csv xml json when=seen    cost with what it called, every level of recursion counted; NULL if unknown
--> calls          COUNT is=calls text csv xml optional json   how often the function was called; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the cost asked for per call; NULL if calls is unknown or 0
--> module         TEXT json                                   its module, package, program or library
--> file           TEXT json                                   its source file
--> kind           TEXT json                                   function or pseudo; module, file, thread, process or label with --by
--> exclusive      COST json                                   cost of the function itself
--> exclusive_pct  PERCENT json                                the same, % of the run's total
--> cumulative     COST json                                   cost with what it called, recursion counted once
--> cumulative_pct PERCENT json                                the same, % of the run's total
--> id             LINE                                        number of what the row is about, which tells rows of one name apart
WITH entries AS (
  SELECT f.name, f.module, f.file, f.kind, i.function_id AS id, NULL AS line, NULL AS col, i.calls, i.exclusive,
    i.cumulative, i.seen, $cost AS cost, $sort_key AS sort_key, $total AS total
  FROM function_costs AS i CROSS JOIN $names AS f
  WHERE f.function_id = i.function_id$listed
)
SELECT
  r.name AS function, NULL AS line, r.cost AS cost, r.cost_pct AS cost_pct,
  r.exclusive AS own, 100 * r.exclusive / r.total AS own_pct, r.cumulative AS whole,
  100 * r.cumulative / r.total AS whole_pct, r.seen AS seen, r.calls AS calls, r.cum_pct AS cum_pct,
  r.cost / NULLIF(r.calls, 0) AS avg, r.module AS module, r.file AS file, r.kind AS kind, r.exclusive AS exclusive,
  100 * r.exclusive / r.total AS exclusive_pct, r.cumulative AS cumulative, 100 * r.cumulative / r.total AS cumulative_pct, r.id AS id
FROM ranked AS r$up_to
ORDER BY $sorted$first;
