-- The percentage of each row, where no running one is asked for.
SELECT name, module, file, first_line, kind, id, line, col, calls, exclusive, cumulative, seen, cost, total, sort_key,
  100 * cost / total AS cost_pct, NULL AS cum_pct
FROM entries
