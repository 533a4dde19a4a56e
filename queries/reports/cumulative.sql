-- Functions by cost with what it called, with their running share of the total.
--
-- :pct PERCENTAGE ?       only the rows up to which the percentages add up to at most N
-- :first COUNT ?          only the first rows
-- :by GROUPS function|identity|module|file|thread|process|label:KEY = function  one row per function, identity (functions that are one whatever the build), module, file, thread, process or value of a label
-- :thread THREAD ?        only what happened in this thread: its name, PROCESS/THREAD, or the end of it that no other has
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :label LABEL ?          only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
--> rank       LINE json                                     1 for the most expensive function
--> function   NAME is=element text csv xml json             the function
--> line       LINE is=line csv xml                          always empty
--> cumulative COST is=cumulative text csv xml json          cost with what it called
--> pct        PERCENT is=percent text csv xml json          the same, % of the run's total
--> calls      COUNT is=calls text csv xml optional json     how often the function was called; NULL if unknown
--> cum_pct    PERCENT is=running_percent text csv xml json  sum of pct over this row and all before it
--> module     TEXT json                                     its module, package, program or library
--> file       TEXT json                                     its source file
WITH entries AS (
  SELECT f.name, f.module, f.file, f.kind, i.function_id AS id, NULL AS line, NULL AS col, i.calls, i.exclusive,
    i.cumulative, NULL AS seen, i.cumulative AS cost, i.cumulative AS sort_key, $total AS total
  FROM function_costs AS i CROSS JOIN $names AS f
  WHERE f.function_id = i.function_id$listed
)
SELECT
  r.rank AS rank, r.name AS function, NULL AS line, r.cost AS cumulative, r.cost_pct AS pct, r.calls AS calls,
  r.cum_pct AS cum_pct, r.module AS module, r.file AS file
FROM ranked AS r$up_to
ORDER BY $sorted$first;
