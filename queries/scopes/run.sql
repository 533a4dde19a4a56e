-- The whole run.
CREATE TEMP VIEW figures (function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks) AS
SELECT function_id, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks
FROM temp.asked_functions;
CREATE TEMP VIEW line_figures (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks
) AS
SELECT function_id, file, line, col, calls, exclusive, cumulative, exclusive_ticks, cumulative_ticks
FROM temp.asked_lines;
