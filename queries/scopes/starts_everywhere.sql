-- Climbs begin at every function. Those that cost nothing count, too: they may have been called.
CREATE TEMP VIEW starts (node_id, function_id, calls, exclusive, cumulative) AS
SELECT n.node_id, n.function_id, n.calls, n.exclusive, n.exclusive
FROM temp.places AS n
CROSS JOIN functions AS f
WHERE n.line IS NULL AND f.function_id = n.function_id AND f.kind IN ('function', 'pseudo');
