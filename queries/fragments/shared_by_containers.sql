-- What threads or processes share. None is within another, so that their costs do not overlap.
SELECT SUM(cost) AS cost FROM known_groups
