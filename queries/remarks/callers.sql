-- How many callers a function has, and what they paid; NULL if that is not known of each.
SELECT COUNT(*), CASE COUNT(*) WHEN COUNT(c.cumulative) THEN SUM(c.cumulative) END
FROM callers_of_selection AS c;
