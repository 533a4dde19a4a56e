-- Hidden nodes with the nearest node above that is not hidden; NULL if there is none.
SELECT node_id, IIF(COUNT(*) = COUNT(at_id), MIN(at_id), NULL) AS at_id, last_id, line, exclusive
FROM climb GROUP BY node_id
