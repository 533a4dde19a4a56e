-- Which lines called a function: how often, and what the function cost when called from there.
--
-- :run RUN                the run
-- :metric METRIC          the metric
-- :scope SCOPE            what :fn selects: the whole run, functions, or nodes
-- :exclusive FLAG         cost of the function itself, without what it called
-- :thread THREAD ?        only what happened in the thread of this name
-- :fn PATH                the function that was called; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :first COUNT ?          only the first rows
--
-- needs: edges
-- about: function
--> element        NAME text=Element                   the calling function and line, or (root)
--> name           TEXT csv=Element                    the calling function, or (root)
--> caller_line    LINE csv=Line json                  the calling line; NULL if unknown
--> caller_col     LINE json                           its column or clause; NULL if unknown
--> shown          COST text=@ csv=Time                the cost asked for
--> shown_pct      PERCENT text=% csv=PctOfTot         the same, % of the run's total
--> calls          COUNT text=Calls csv=Calls optional json  how often it called; NULL if unknown
--> caller         TEXT json                           the calling function; NULL at the root
--> caller_module  TEXT json                           its module; NULL at the root
--> caller_file    TEXT json                           its source file; NULL at the root
--> kind           TEXT json                           call, or back: known to exist, without cost of its own
--> exclusive      COST json                           cost of the called function itself
--> cumulative     COST json                           cost of the called function and what it called
--> cumulative_pct PERCENT json                        the same, % of the run's total
WITH arrivals (caller_id, line, col, kind, calls, exclusive, cumulative) AS (
  SELECT e.caller_id, NULLIF(e.caller_line, -1), NULLIF(e.caller_col, 0), e.kind, e.calls, e.exclusive, e.outermost
  FROM temp.picked AS p
  CROSS JOIN edges AS e ON e.metric_id = :metric AND e.callee_id = p.function_id
  WHERE :scope = 'functions'
  UNION ALL
  SELECT
    CASE WHEN caller.kind IN ('function', 'pseudo') THEN caller.function_id ELSE 0 END,
    CASE WHEN caller.kind IN ('function', 'pseudo') THEN above.line END,
    CASE WHEN caller.kind IN ('function', 'pseudo') THEN above.col END,
    'call',
    n.calls,
    CASE WHEN r.default_metric_id = :metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END,
    CASE
      WHEN s.outermost = 0 THEN 0.0
      WHEN r.default_metric_id = :metric THEN n.cumulative
      ELSE COALESCE(c.cumulative, 0.0)
    END
  FROM temp.selection AS s
  CROSS JOIN runs AS r ON r.run_id = :run
  CROSS JOIN nodes AS n ON n.node_id = s.node_id
  LEFT JOIN nodes AS above ON above.node_id = n.parent_id
  LEFT JOIN functions AS caller ON caller.function_id = above.function_id
  LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id AND r.default_metric_id <> :metric
  WHERE :scope = 'nodes'
),
callers AS (
  SELECT
    caller_id,
    line,
    col,
    kind,
    CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END AS calls,
    CASE COUNT(*) WHEN COUNT(exclusive) THEN SUM(exclusive) END AS exclusive,
    CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(cumulative) END AS cumulative
  FROM arrivals
  GROUP BY caller_id, line, col, kind
)
SELECT
  COALESCE(f.name, '(root)')
    || COALESCE('[' || a.line || COALESCE(':' || a.col, '') || ']', '') AS element,
  COALESCE(f.name, '(root)') AS name,
  a.line AS caller_line,
  a.col AS caller_col,
  CASE WHEN :exclusive THEN a.exclusive ELSE a.cumulative END AS shown,
  100 * CASE WHEN :exclusive THEN a.exclusive ELSE a.cumulative END / NULLIF(m.total, 0) AS shown_pct,
  a.calls AS calls,
  f.name AS caller,
  f.module AS caller_module,
  f.file AS caller_file,
  a.kind AS kind,
  a.exclusive AS exclusive,
  a.cumulative AS cumulative,
  100 * a.cumulative / NULLIF(m.total, 0) AS cumulative_pct
FROM callers AS a
JOIN metrics AS m ON m.metric_id = :metric
LEFT JOIN functions AS f ON f.function_id = a.caller_id
ORDER BY shown DESC, name, a.line, a.col, f.module, f.file, a.caller_id, a.kind
LIMIT COALESCE(:first, -1);
