-- Functions by cost of the function itself, with their running share of the total.
--
-- :run RUN                the run
-- :metric METRIC          the metric
-- :scope SCOPE            what :fn selects: the whole run, functions, or nodes
-- :thread THREAD ?        only what happened in the thread of this name
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :first COUNT ?          only the first rows
--
--> rank        LINE json                                 1 for the most expensive function
--> function    NAME text=Element csv=Element json        the function
--> line        LINE csv=Line                             always empty
--> exclusive   COST text=@ csv=Time json                 cost of the function itself
--> pct         PERCENT text=% csv=PctOfTot json          the same, % of the run's total
--> calls       COUNT text=Calls csv=Calls optional json  how often the function was called; NULL if unknown
--> cum_pct     PERCENT text=%(cum) csv=CumPct json       sum of pct over this row and all before it
--> module      TEXT json                                 its module, package, program or library
--> file        TEXT json                                 its source file
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
  ROW_NUMBER() OVER ranking AS rank,
  f.name AS function,
  NULL AS line,
  i.exclusive AS exclusive,
  100 * i.exclusive / NULLIF(m.total, 0) AS pct,
  i.calls AS calls,
  SUM(100 * i.exclusive / NULLIF(m.total, 0)) OVER (ranking ROWS UNBOUNDED PRECEDING) AS cum_pct,
  f.module AS module,
  f.file AS file
FROM figures AS i
JOIN metrics AS m ON m.metric_id = :metric
JOIN functions AS f ON f.function_id = i.function_id
WHERE f.kind IN ('function', 'pseudo')
WINDOW ranking AS (ORDER BY i.exclusive DESC, f.name, f.module, f.file, f.function_id)
ORDER BY rank
LIMIT COALESCE(:first, -1);
