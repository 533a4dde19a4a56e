-- Which lines called a function: how often, and what the function cost when called from there.
--
-- :exclusive FLAG         cost of the function itself, without what it called
-- :avg FLAG               a column with the cost per call
-- :cumpct FLAG            a column with the running sum of the percentages
-- :code FLAG              a column with the source of every calling line
-- :first COUNT ?          only the first rows
-- :pct PERCENTAGE ?       only the rows up to which the percentages add up to at most N
-- :sort CHOICE cost|calls|avg|exclusive|cumulative|name = cost  what comes first: the largest figure, or the name
-- :thread THREAD ?        only what happened in this thread: its name, or the end of it that no other has
-- :fn PATH                the function that was called; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :tag LABEL ?            only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
--
-- needs: edges
-- about: function
--> element        NAME is=element text                        the calling function and line, or (root)
--> name           TEXT is=element csv xml                     the calling function, or (root)
--> caller_line    LINE is=line csv xml json                   the calling line; NULL if unknown
--> caller_col     LINE json                                   its column or clause; NULL if unknown
--> cost           COST is=cost text csv xml                  the cost asked for
--> cost_pct       PERCENT is=percent text csv xml             the same, % of the run's total
--> calls          COUNT is=calls text csv xml optional json   how often it called; NULL if unknown
--> cum_pct        PERCENT is=running_percent text csv xml json when=cumpct  sum of the percentages of this row and all before it
--> avg            COST is=average text csv xml json when=avg  the cost asked for per call; NULL if calls is unknown or 0
--> code           TEXT is=code text csv xml json when=code    source of the calling line; NULL if unknown
--> caller         TEXT json                                   the calling function; NULL at the root
--> caller_module  TEXT json                                   its module; NULL at the root
--> caller_file    TEXT json                                   its source file; NULL at the root
--> kind           TEXT json                                   call, or back: known to exist, without cost of its own
--> exclusive      COST json                                   cost of the called function itself
--> cumulative     COST json                                   cost of the called function and what it called
--> cumulative_pct PERCENT json                                the same, % of the run's total
WITH callers AS (
  SELECT
    COALESCE(g.group_id, 0) AS caller_id,
    e.line,
    e.col,
    e.kind,
    CASE COUNT(*) WHEN COUNT(e.calls) THEN SUM(e.calls) END AS calls,
    CASE COUNT(*) WHEN COUNT(e.exclusive) THEN SUM(e.exclusive) END AS exclusive,
    CASE COUNT(*) WHEN COUNT(e.cumulative) THEN SUM(e.cumulative) END AS cumulative
  FROM temp.callers_of_selection AS e
  LEFT JOIN temp.group_of AS g ON g.function_id = e.caller_id
  GROUP BY COALESCE(g.group_id, 0), e.line, e.col, e.kind
),
costs AS (
  SELECT
    c.caller_id,
    c.line,
    c.col,
    c.kind,
    c.calls,
    c.exclusive,
    c.cumulative,
    CASE WHEN :exclusive THEN c.exclusive ELSE c.cumulative END AS cost,
    NULLIF(q.total, 0) AS total
  FROM callers AS c
  CROSS JOIN temp.question AS q
  WHERE q.question_id = 1
),
keyed AS (
  SELECT
    f.name,
    f.module,
    f.file,
    c.caller_id,
    c.line,
    c.col,
    c.kind,
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
  LEFT JOIN temp.display_names AS f ON f.function_id = c.caller_id
),
sorted AS (
  SELECT
    k.name,
    k.module,
    k.file,
    k.caller_id,
    k.line,
    k.col,
    k.kind,
    k.calls,
    k.exclusive,
    k.cumulative,
    k.cost,
    k.total,
    k.cost_pct,
    k.sort_key
  FROM keyed AS k
  ORDER BY k.sort_key DESC, COALESCE(k.name, '(root)'), k.line, k.col, k.module, k.file, k.caller_id, k.kind
  LIMIT COALESCE(:first, -1)
),
ranked AS (
  SELECT
    k.name,
    k.module,
    k.file,
    k.caller_id,
    k.line,
    k.col,
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
  WINDOW ranking AS (ORDER BY k.sort_key DESC, COALESCE(k.name, '(root)'), k.line, k.col, k.module, k.file, k.caller_id, k.kind)
)
SELECT
  COALESCE(r.name, '(root)')
    || COALESCE('[' || r.line || COALESCE(':' || r.col, '') || ']', '') AS element,
  COALESCE(r.name, '(root)') AS name,
  r.line AS caller_line,
  r.col AS caller_col,
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
      WHERE q.question_id = 1 AND s.function_id = r.caller_id AND s.file = r.file AND s.line = r.line
    )
  END AS code,
  r.name AS caller,
  r.module AS caller_module,
  r.file AS caller_file,
  r.kind AS kind,
  r.exclusive AS exclusive,
  r.cumulative AS cumulative,
  100 * r.cumulative / r.total AS cumulative_pct
FROM ranked AS r
-- Sums of percentages are as inexact as their parts.
WHERE :pct IS NULL OR r.cum_pct <= :pct + 1e-9
ORDER BY r.rank;
