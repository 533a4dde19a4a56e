-- What the tree of calls leaves out: nodes, the own cost of the functions among them, and its share.
SELECT COUNT(*), COALESCE(SUM(IIF(n.line IS NULL, n.exclusive, NULL)), 0.0),
  100 * COALESCE(SUM(IIF(n.line IS NULL, n.exclusive, NULL)), 0.0) / $total
FROM $places
WHERE $in_places AND NOT COALESCE(1$depth_limit$min_pct_tree, 0);
