-- What the selected nodes cost in all.
SELECT COALESCE(SUM(s.cumulative), 0.0) AS cost FROM subtrees AS s WHERE s.outermost
