SELECT
  after.function,
  before.cumulative AS before,
  after.cumulative AS after,
  after.cumulative - before.cumulative AS difference
FROM summary AS after
LEFT JOIN summary AS before ON before.function_id = after.function_id AND before.run_id = 1 AND before.metric = 'time'
WHERE after.run_id = 2 AND after.metric = 'time'
ORDER BY difference, after.function;
