-- Calls and cost of every function, the most expensive first.
--
-- :exclusive FLAG         cost of the function itself, without what it called
-- :lines VARIANT lines  one row per line instead of one per function
-- :code VARIANT lines   the source of every line, which the rows then are
-- :avg FLAG               a column with the cost per call
-- :cumpct FLAG            a column with the running sum of the percentages
-- :first COUNT ?          only the first rows
-- :pct PERCENTAGE ?       only the rows up to which the percentages add up to at most N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  what comes first: the largest figure, or the name
-- :by GROUPS function|module|file|thread|process|tag:KEY = function  one row per function, module, file, thread, process or value of a label
-- :thread THREAD ?        only what happened in this thread: its name, or the end of it that no other has
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :tag LABEL ?            only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
--> function       NAME is=element text csv xml json           the function
--> line           LINE is=line csv xml                        always empty: see report lines
--> cost           COST is=cost text csv xml                  the cost asked for
--> cost_pct       PERCENT is=percent text csv xml             the same, % of the run's total
--> calls          COUNT is=calls text csv xml optional json   how often the function was called; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the cost asked for per call; NULL if calls is unknown or 0
--> module         TEXT json                                   its module, package, program or library
--> file           TEXT json                                   its source file
--> kind           TEXT json                                   function or pseudo; module, file, thread, process or tag with --by
--> exclusive      COST json                                   cost of the function itself
--> exclusive_pct  PERCENT json                                the same, % of the run's total
--> cumulative     COST json                                   cost with what it called, recursion counted once
--> cumulative_pct PERCENT json                                the same, % of the run's total
WITH costs AS (
  SELECT
    i.function_id,
    i.calls,
    i.exclusive,
    i.cumulative,
    CASE WHEN :exclusive THEN i.exclusive ELSE i.cumulative END AS cost,
    NULLIF(q.total, 0) AS total
  FROM temp.function_costs AS i
  CROSS JOIN temp.question AS q
  WHERE q.question_id = 1
),
keyed AS (
  SELECT
    f.name,
    f.module,
    f.file,
    f.kind,
    c.function_id,
    c.calls,
    c.exclusive,
    c.cumulative,
    c.cost,
    c.total,
    100 * c.cost / c.total AS cost_pct,
    CASE :sort
      WHEN 'calls' THEN c.calls
      WHEN 'avg' THEN c.cost / NULLIF(c.calls, 0)
      WHEN 'exclusive' THEN c.exclusive
      WHEN 'cumulative' THEN c.cumulative
      WHEN 'name' THEN NULL
      ELSE c.cost
    END AS sort_key
  FROM costs AS c
  CROSS JOIN temp.display_names AS f
  WHERE f.function_id = c.function_id AND f.listed
),
sorted AS (
  SELECT
    k.name,
    k.module,
    k.file,
    k.kind,
    k.function_id,
    k.calls,
    k.exclusive,
    k.cumulative,
    k.cost,
    k.total,
    k.cost_pct,
    k.sort_key
  FROM keyed AS k
  ORDER BY k.sort_key DESC, k.name, k.module, k.file, k.function_id
  LIMIT COALESCE(:first, -1)
),
ranked AS (
  SELECT
    k.name,
    k.module,
    k.file,
    k.kind,
    k.calls,
    k.exclusive,
    k.cumulative,
    k.cost,
    k.total,
    k.cost_pct,
    ROW_NUMBER() OVER ranking AS rank,
    SUM(k.cost_pct) OVER (ranking ROWS UNBOUNDED PRECEDING) AS cum_pct
  FROM sorted AS k
  WINDOW ranking AS (ORDER BY k.sort_key DESC, k.name, k.module, k.file, k.function_id)
)
SELECT
  r.name AS function,
  NULL AS line,
  r.cost AS cost,
  r.cost_pct AS cost_pct,
  r.calls AS calls,
  r.cum_pct AS cum_pct,
  r.cost / NULLIF(r.calls, 0) AS avg,
  r.module AS module,
  r.file AS file,
  r.kind AS kind,
  r.exclusive AS exclusive,
  100 * r.exclusive / r.total AS exclusive_pct,
  r.cumulative AS cumulative,
  100 * r.cumulative / r.total AS cumulative_pct
FROM ranked AS r
-- Sums of percentages are as inexact as their parts.
WHERE :pct IS NULL OR r.cum_pct <= :pct + 1e-9
ORDER BY r.rank;
