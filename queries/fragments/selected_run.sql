-- What the whole run cost.
SELECT COALESCE(q.total, 0.0) AS cost FROM question AS q
