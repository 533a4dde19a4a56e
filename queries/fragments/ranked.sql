-- The rank of each row, its percentage, and the running sum of the percentages.
SELECT name, module, file, first_line, kind, id, line, col, calls, exclusive, cumulative, seen, cost, total, 100 * cost / total AS cost_pct,
  ROW_NUMBER() OVER best AS rank, SUM(100 * cost / total) OVER (best ROWS UNBOUNDED PRECEDING) AS cum_pct
FROM entries AS r WINDOW best AS (ORDER BY $best)
