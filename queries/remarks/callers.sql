-- The number of callers of a function and the sum of their inclusive costs; NULL if any of these is unknown.
SELECT COUNT(*), CASE COUNT(*) WHEN COUNT(c.cumulative) THEN SUM(c.cumulative) END
FROM callers_of_selection AS c;
