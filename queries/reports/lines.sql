-- Calls and cost of every line, the most expensive first. The cost of a line is part of its function's.
--
-- :run RUN                the run
-- :metric METRIC          the metric
-- :scope SCOPE            what :fn selects: the whole run, functions, or nodes
-- :exclusive FLAG         cost of the line itself, without what it called
-- :thread THREAD ?        only what happened in the thread of this name
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :first COUNT ?          only the first rows
--
--> element        NAME text=Element                   function and line
--> function       TEXT csv=Element json               the function
--> line           LINE csv=Line json                  the line
--> col            LINE json                           its column or clause; NULL if unknown
--> shown          COST text=@ csv=Time                the cost asked for
--> shown_pct      PERCENT text=% csv=PctOfTot         the same, % of the run's total
--> calls          COUNT text=Calls csv=Calls optional json  how often the line was executed; NULL if unknown
--> module         TEXT json                           module, package, program or library
--> file           TEXT json                           source file of the line
--> exclusive      COST json                           cost of the line itself
--> exclusive_pct  PERCENT json                        the same, % of the run's total
--> cumulative     COST json                           cost with what it called, recursion counted once; NULL if unknown
--> cumulative_pct PERCENT json                        the same, % of the run's total
WITH nodes_selected AS (
  SELECT
    n.function_id,
    COALESCE(n.file, '') AS file,
    n.line,
    COALESCE(n.col, 0) AS col,
    n.calls,
    CASE WHEN r.default_metric_id = :metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END AS exclusive,
    CASE
      WHEN r.default_metric_id = :metric THEN n.cumulative
      WHEN c.node_id IS NULL THEN 0.0
      ELSE c.cumulative
    END AS cumulative,
    n.outer_id >= s.node_id AS nested
  FROM temp.selection AS s
  CROSS JOIN runs AS r ON r.run_id = :run
  CROSS JOIN nodes AS n ON n.node_id BETWEEN s.node_id AND s.last_id
  LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id AND r.default_metric_id <> :metric
  WHERE :scope = 'nodes' AND s.outermost = 1 AND n.line IS NOT NULL
),
figures AS (
  SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
  FROM line_info AS i
  WHERE :scope = 'run' AND i.metric_id = :metric
  UNION ALL
  SELECT i.function_id, i.file, i.line, i.col, i.calls, i.exclusive, i.cumulative
  FROM temp.picked AS p
  CROSS JOIN line_info AS i ON i.metric_id = :metric AND i.function_id = p.function_id
  WHERE :scope = 'functions'
  UNION ALL
  SELECT
    function_id,
    file,
    line,
    col,
    CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END,
    SUM(exclusive),
    CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(CASE WHEN nested THEN 0.0 ELSE cumulative END) END
  FROM nodes_selected
  GROUP BY function_id, file, line, col
)
SELECT
  f.name || '[' || i.line || CASE i.col WHEN 0 THEN '' ELSE ':' || i.col END || ']' AS element,
  f.name AS function,
  i.line AS line,
  NULLIF(i.col, 0) AS col,
  CASE WHEN :exclusive THEN i.exclusive ELSE i.cumulative END AS shown,
  100 * CASE WHEN :exclusive THEN i.exclusive ELSE i.cumulative END / NULLIF(m.total, 0) AS shown_pct,
  i.calls AS calls,
  f.module AS module,
  CASE i.file WHEN '' THEN f.file ELSE i.file END AS file,
  i.exclusive AS exclusive,
  100 * i.exclusive / NULLIF(m.total, 0) AS exclusive_pct,
  i.cumulative AS cumulative,
  100 * i.cumulative / NULLIF(m.total, 0) AS cumulative_pct
FROM figures AS i
JOIN metrics AS m ON m.metric_id = :metric
JOIN functions AS f ON f.function_id = i.function_id
ORDER BY shown DESC, f.name, i.line, i.col, f.module, i.file, f.function_id
LIMIT COALESCE(:first, -1);
