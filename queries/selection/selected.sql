-- Cost of what a path selects: of its nodes, or of its function where the run has no nodes.
SELECT COALESCE(SUM(cost), 0.0)
FROM (
  SELECT CASE WHEN r.default_metric_id = :metric THEN n.cumulative ELSE c.cumulative END AS cost
  FROM temp.selection AS s
  CROSS JOIN nodes AS n ON n.node_id = s.node_id
  CROSS JOIN runs AS r ON r.run_id = :run
  LEFT JOIN node_costs AS c ON c.metric_id = :metric AND c.node_id = n.node_id
  WHERE :scope = 'nodes' AND s.outermost = 1
  UNION ALL
  SELECT i.cumulative
  FROM temp.picked AS p
  CROSS JOIN function_info AS i ON i.metric_id = :metric AND i.function_id = p.function_id
  WHERE :scope = 'functions'
);
