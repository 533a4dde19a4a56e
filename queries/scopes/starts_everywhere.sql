-- Climbs begin wherever there is own cost.
CREATE TEMP VIEW starts (node_id, function_id, calls, exclusive, cumulative) AS
SELECT node_id, function_id, calls, exclusive, exclusive
FROM temp.places
WHERE line IS NULL AND exclusive <> 0;
