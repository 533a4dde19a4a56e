-- The tree of calls: every function at every place, with its lines, in the order of the file.
--
-- :run RUN                the run
-- :metric METRIC          the metric
-- :scope SCOPE            what :fn selects: the whole run, functions, or nodes
-- :ticks TICKS            the run's metric ticks, if it has one
-- :thread THREAD ?        only what happened in the thread of this name
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :first COUNT ?          only the first rows
--
-- needs: tree
-- rows: many
--> depth            LINE csv=Depth json               nodes above this one, from the selection on
--> element          NODE text=Element                 function, or function and line
--> function         TEXT csv=Element json             the function
--> line             LINE csv=Line json                the line; NULL for whole functions
--> col              LINE json                         its column or clause; NULL if unknown
--> calls            COUNT text=Calls csv=Calls optional json  how often called here; NULL if unknown
--> exclusive        RAW text=@(exc) csv=ExclusiveTime json    cost of the node itself
--> cumulative       RAW text=@(inc) csv=InclusiveTime json    cost with everything called
--> exclusive_ticks  COUNT csv=ExclusiveTicks optional json    timer readings for the exclusive time; NULL if unknown
--> cumulative_ticks COUNT csv=InclusiveTicks optional json    timer readings for the inclusive time; NULL if unknown
--> module           TEXT json                         module, package, program or library
--> file             TEXT json                         source file
--> node_id          LINE json                         number of the node
--> parent_id        LINE json                         the node above; NULL at a root
WITH subtrees AS (
  SELECT r.first_node AS node_id, r.last_node AS last_id
  FROM runs AS r
  WHERE :scope = 'run' AND r.run_id = :run
  UNION ALL
  SELECT s.node_id, s.last_id
  FROM temp.selection AS s
  WHERE :scope = 'nodes' AND s.outermost = 1
)
SELECT
  n.depth - top.depth AS depth,
  f.name
    || COALESCE('[' || n.line || COALESCE(':' || n.col, '') || ']', '') AS element,
  f.name AS function,
  n.line AS line,
  n.col AS col,
  n.calls AS calls,
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
  f.module AS module,
  COALESCE(n.file, f.file) AS file,
  n.node_id AS node_id,
  n.parent_id AS parent_id
FROM subtrees AS s
CROSS JOIN runs AS r ON r.run_id = :run
CROSS JOIN nodes AS top ON top.node_id = s.node_id
CROSS JOIN nodes AS n ON n.node_id BETWEEN s.node_id AND s.last_id
CROSS JOIN functions AS f ON f.function_id = n.function_id
LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id AND r.default_metric_id <> :metric
LEFT JOIN node_costs AS t ON t.metric_id = :ticks AND t.node_id = n.node_id
ORDER BY s.node_id, n.node_id
LIMIT COALESCE(:first, -1);
