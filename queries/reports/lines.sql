-- Calls and cost of every line, the most expensive first. The cost of a line is part of its function's.
--
-- :exclusive FLAG         cost of the line itself, without what it called
-- :avg FLAG               a column with the cost per call
-- :cumpct FLAG            a column with the running sum of the percentages
-- :code FLAG              a column with the source of every line
-- :first COUNT ?          only the first rows
-- :pct PERCENTAGE ?       only the rows up to which the percentages add up to at most N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  what comes first: the largest figure, or the name
-- :thread THREAD ?        only what happened in this thread: its name, or the end of it that no other has
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :tag LABEL ?            only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
--> element        NAME is=element text                        function and line
--> function       TEXT is=element csv xml json                the function
--> line           LINE is=line csv xml json                   the line
--> col            LINE json                                   its column or clause; NULL if unknown
--> cost           COST is=cost text csv xml                  the cost asked for
--> cost_pct       PERCENT is=percent text csv xml             the same, % of the run's total
--> calls          COUNT is=calls text csv xml optional json   how often the line was executed; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the cost asked for per execution; NULL if calls is unknown or 0
--> code           TEXT is=code text csv xml json when=code    its source; NULL if unknown
--> module         TEXT json                                   module, package, program or library
--> file           TEXT json                                   source file of the line
--> exclusive      COST json                                   cost of the line itself
--> exclusive_pct  PERCENT json                                the same, % of the run's total
--> cumulative     COST json                                   cost with what it called, recursion counted once; NULL if unknown
--> cumulative_pct PERCENT json                                the same, % of the run's total
WITH costs AS (
  SELECT
    i.function_id,
    i.file AS line_file,
    i.line,
    i.col,
    i.calls,
    i.exclusive,
    i.cumulative,
    CASE WHEN :exclusive THEN i.exclusive ELSE i.cumulative END AS cost,
    NULLIF(q.total, 0) AS total
  FROM temp.line_costs AS i
  CROSS JOIN temp.question AS q
  WHERE q.question_id = 1
),
keyed AS (
  SELECT
    f.name,
    f.module,
    CASE c.line_file WHEN '' THEN f.file ELSE c.line_file END AS file,
    c.function_id,
    c.line,
    c.col,
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
  CROSS JOIN functions AS f
  WHERE f.function_id = c.function_id
),
sorted AS (
  SELECT
    k.name,
    k.module,
    k.file,
    k.function_id,
    k.line,
    k.col,
    k.calls,
    k.exclusive,
    k.cumulative,
    k.cost,
    k.total,
    k.cost_pct,
    k.sort_key
  FROM keyed AS k
  ORDER BY k.sort_key DESC, k.name, k.line, k.col, k.module, k.file, k.function_id
  LIMIT COALESCE(:first, -1)
),
ranked AS (
  SELECT
    k.name,
    k.module,
    k.file,
    k.function_id,
    k.line,
    k.col,
    k.calls,
    k.exclusive,
    k.cumulative,
    k.cost,
    k.total,
    k.cost_pct,
    ROW_NUMBER() OVER ranking AS rank,
    SUM(k.cost_pct) OVER (ranking ROWS UNBOUNDED PRECEDING) AS cum_pct
  FROM sorted AS k
  WINDOW ranking AS (ORDER BY k.sort_key DESC, k.name, k.line, k.col, k.module, k.file, k.function_id)
)
SELECT
  r.name || '[' || r.line || CASE r.col WHEN 0 THEN '' ELSE ':' || r.col END || ']' AS element,
  r.name AS function,
  r.line AS line,
  NULLIF(r.col, 0) AS col,
  r.cost AS cost,
  r.cost_pct AS cost_pct,
  r.calls AS calls,
  r.cum_pct AS cum_pct,
  r.cost / NULLIF(r.calls, 0) AS avg,
  CASE
    WHEN :code THEN (
      SELECT s.text
      FROM temp.question AS q
      JOIN source_lines AS s ON s.run_id = q.run_id
      WHERE q.question_id = 1 AND s.function_id = r.function_id AND s.file = r.file AND s.line = r.line
    )
  END AS code,
  r.module AS module,
  r.file AS file,
  r.exclusive AS exclusive,
  100 * r.exclusive / r.total AS exclusive_pct,
  r.cumulative AS cumulative,
  100 * r.cumulative / r.total AS cumulative_pct
FROM ranked AS r
-- Sums of percentages are as inexact as their parts.
WHERE :pct IS NULL OR r.cum_pct <= :pct + 1e-9
ORDER BY r.rank;
