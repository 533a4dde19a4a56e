-- Walks to the root begin at every function node, also where it cost nothing: it may have been called.
CREATE TEMP VIEW starts (node_id, function_id, calls, exclusive, cumulative) AS
SELECT n.node_id, n.function_id, n.calls, n.exclusive, n.exclusive
FROM temp.places AS n
CROSS JOIN functions AS f
WHERE n.line IS NULL AND f.function_id = n.function_id AND f.kind IN ('function', 'pseudo');
