-- Figures of every function, followed by those of its lines, by name.
--
-- :run RUN                the run
-- :metric METRIC          the metric
-- :scope SCOPE            what :fn selects: the whole run, functions, or nodes
-- :ticks TICKS            the run's metric ticks, if it has one
-- :thread THREAD ?        only what happened in the thread of this name
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :first COUNT ?          only the first rows
--
--> element          NAME text=Element                 function, or function and line
--> function         TEXT csv=Element json             the function
--> line             LINE csv=Line json                the line; NULL for whole functions
--> col              LINE json                         its column or clause; NULL if unknown
--> calls            COUNT text=Calls csv=Calls optional json          how often called or executed; NULL if unknown
--> exclusive        RAW text=@(exc) csv=ExclusiveTime json            cost of the thing itself
--> cumulative       RAW text=@(inc) csv=InclusiveTime json            cost with what it called, recursion counted once
--> exclusive_ticks  COUNT text=ticks(exc) csv=ExclusiveTicks optional json  timer readings for the exclusive time
--> cumulative_ticks COUNT text=ticks(inc) csv=InclusiveTicks optional json  timer readings for the inclusive time
--> module           TEXT json                         module, package, program or library
--> file             TEXT json                         source file
WITH nodes_selected AS (
  SELECT
    n.function_id,
    n.file,
    n.line,
    n.col,
    n.calls,
    CASE WHEN r.default_metric_id = :metric THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END AS exclusive,
    CASE
      WHEN r.default_metric_id = :metric THEN n.cumulative
      WHEN c.node_id IS NULL THEN 0.0
      ELSE c.cumulative
    END AS cumulative,
    CASE
      WHEN :ticks IS NULL THEN NULL
      WHEN r.default_metric_id = :ticks THEN n.exclusive
      ELSE COALESCE(t.exclusive, 0.0)
    END AS exclusive_ticks,
    CASE
      WHEN :ticks IS NULL THEN NULL
      WHEN r.default_metric_id = :ticks THEN n.cumulative
      WHEN t.node_id IS NULL THEN 0.0
      ELSE t.cumulative
    END AS cumulative_ticks,
    n.outer_id >= s.node_id AS nested
  FROM temp.selection AS s
  CROSS JOIN runs AS r ON r.run_id = :run
  CROSS JOIN nodes AS n ON n.node_id BETWEEN s.node_id AND s.last_id
  LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id AND r.default_metric_id <> :metric
  LEFT JOIN node_costs AS t ON t.metric_id = :ticks AND t.node_id = n.node_id
  WHERE :scope = 'nodes' AND s.outermost = 1
),
figures (function_id, file, line, col, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS (
  SELECT i.function_id, NULL, NULL, NULL, i.calls, i.exclusive, i.cumulative,
         CASE WHEN :ticks IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
         CASE WHEN :ticks IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
  FROM function_info AS i
  LEFT JOIN function_info AS t ON t.metric_id = :ticks AND t.function_id = i.function_id
  WHERE i.metric_id = :metric
    AND (:scope = 'run' OR (:scope = 'functions' AND i.function_id IN (SELECT function_id FROM temp.picked)))
  UNION ALL
  SELECT i.function_id, NULLIF(i.file, ''), i.line, NULLIF(i.col, 0), i.calls, i.exclusive, i.cumulative,
         CASE WHEN :ticks IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.exclusive END,
         CASE WHEN :ticks IS NULL THEN NULL WHEN t.function_id IS NULL THEN 0.0 ELSE t.cumulative END
  FROM line_info AS i
  LEFT JOIN line_info AS t
    ON t.metric_id = :ticks AND t.function_id = i.function_id AND t.file = i.file AND t.line = i.line AND t.col = i.col
  WHERE i.metric_id = :metric
    AND (:scope = 'run' OR (:scope = 'functions' AND i.function_id IN (SELECT function_id FROM temp.picked)))
  UNION ALL
  SELECT
    function_id,
    file,
    line,
    col,
    CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END,
    SUM(exclusive),
    CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(CASE WHEN nested THEN 0.0 ELSE cumulative END) END,
    SUM(exclusive_ticks),
    CASE COUNT(*)
      WHEN COUNT(cumulative_ticks) THEN SUM(CASE WHEN nested THEN 0.0 ELSE cumulative_ticks END)
    END
  FROM nodes_selected
  GROUP BY function_id, file, line, col
)
SELECT
  f.name
    || COALESCE('[' || i.line || COALESCE(':' || i.col, '') || ']', '') AS element,
  f.name AS function,
  i.line AS line,
  i.col AS col,
  i.calls AS calls,
  i.exclusive AS exclusive,
  i.cumulative AS cumulative,
  i.exclusive_ticks AS exclusive_ticks,
  i.cumulative_ticks AS cumulative_ticks,
  f.module AS module,
  COALESCE(i.file, f.file) AS file
FROM figures AS i
JOIN functions AS f ON f.function_id = i.function_id
WHERE f.kind IN ('function', 'pseudo')
ORDER BY f.name, f.module, f.file, f.function_id, i.line, i.col, i.file
LIMIT COALESCE(:first, -1);
