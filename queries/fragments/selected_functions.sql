-- What the selected functions cost in all; NULL if that is not known of each.
SELECT CASE COUNT(*) WHEN COUNT(i.cumulative) THEN COALESCE(SUM(i.cumulative), 0.0) END AS cost FROM totals AS i
