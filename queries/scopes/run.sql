-- Costs of functions and lines in the whole run.
CREATE TEMP VIEW function_costs (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
FROM temp.question_functions;
CREATE TEMP VIEW line_costs (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
) AS
SELECT function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
FROM temp.question_lines;
