SELECT
  new.function,
  old.cumulative AS old,
  new.cumulative AS new,
  new.cumulative - old.cumulative AS difference
FROM summary AS new
LEFT JOIN summary AS old ON old.function_id = new.function_id AND old.run_id = 1 AND old.metric = 'time'
WHERE new.run_id = 2 AND new.metric = 'time'
ORDER BY difference, new.function;
