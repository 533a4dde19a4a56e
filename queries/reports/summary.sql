-- Calls and cost of every function, the most expensive first.
--
-- :run RUN                the run
-- :metric METRIC          the metric
-- :scope SCOPE            what :fn selects: the whole run, functions, or nodes
-- :exclusive FLAG         cost of the function itself, without what it called
-- :lines VARIANT lines    one row per line instead of one per function
-- :thread THREAD ?        only what happened in the thread of this name
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :first COUNT ?          only the first rows
--
--> function       NAME text=Element csv=Element json  the function
--> line           LINE csv=Line                       always empty: see report lines
--> shown          COST text=@ csv=Time                the cost asked for
--> shown_pct      PERCENT text=% csv=PctOfTot         the same, % of the run's total
--> calls          COUNT text=Calls csv=Calls optional json  how often the function was called; NULL if unknown
--> module         TEXT json                           its module, package, program or library
--> file           TEXT json                           its source file
--> kind           TEXT json                           function or pseudo
--> exclusive      COST json                           cost of the function itself
--> exclusive_pct  PERCENT json                        the same, % of the run's total
--> cumulative     COST json                           cost with what it called, recursion counted once
--> cumulative_pct PERCENT json                        the same, % of the run's total
WITH figures AS (
  SELECT i.function_id, i.calls, i.exclusive, i.cumulative
  FROM function_info AS i
  WHERE :scope = 'run' AND i.metric_id = :metric
  UNION ALL
  SELECT i.function_id, i.calls, i.exclusive, i.cumulative
  FROM temp.picked AS p
  CROSS JOIN function_info AS i ON i.metric_id = :metric AND i.function_id = p.function_id
  WHERE :scope = 'functions'
  UNION ALL
  SELECT
    n.function_id,
    CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls) END,
    SUM(CASE WHEN r.default_metric_id = :metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END),
    SUM(
      CASE
        WHEN n.outer_id >= s.node_id THEN 0.0
        WHEN r.default_metric_id = :metric THEN n.cumulative
        ELSE COALESCE(c.cumulative, 0.0)
      END
    )
  FROM temp.selection AS s
  CROSS JOIN runs AS r ON r.run_id = :run
  CROSS JOIN nodes AS n ON n.node_id BETWEEN s.node_id AND s.last_id
  LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id AND r.default_metric_id <> :metric
  WHERE :scope = 'nodes' AND s.outermost = 1 AND n.line IS NULL
  GROUP BY n.function_id
)
SELECT
  f.name AS function,
  NULL AS line,
  CASE WHEN :exclusive THEN i.exclusive ELSE i.cumulative END AS shown,
  100 * CASE WHEN :exclusive THEN i.exclusive ELSE i.cumulative END / NULLIF(m.total, 0) AS shown_pct,
  i.calls AS calls,
  f.module AS module,
  f.file AS file,
  f.kind AS kind,
  i.exclusive AS exclusive,
  100 * i.exclusive / NULLIF(m.total, 0) AS exclusive_pct,
  i.cumulative AS cumulative,
  100 * i.cumulative / NULLIF(m.total, 0) AS cumulative_pct
FROM figures AS i
JOIN metrics AS m ON m.metric_id = :metric
JOIN functions AS f ON f.function_id = i.function_id
WHERE f.kind IN ('function', 'pseudo')
ORDER BY shown DESC, f.name, f.module, f.file, f.function_id
LIMIT COALESCE(:first, -1);
