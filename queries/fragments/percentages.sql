-- The percentage of each row, for reports without a running sum.
SELECT name, module, file, first_line, kind, id, line, col, calls, exclusive, cumulative, seen, cost, total, sort_key,
  100 * cost / total AS cost_pct, NULL AS cum_pct
FROM entries
