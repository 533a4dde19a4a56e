-- Shares of the cost in place of functions.
CREATE TEMP VIEW figures (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT share_id, NULL, cost, cost, NULL, NULL
FROM temp.shares;
CREATE TEMP VIEW labels (function_id, name, module, file, kind, listed) AS
SELECT share_id, name, '', '', kind, 1
FROM temp.shares;
