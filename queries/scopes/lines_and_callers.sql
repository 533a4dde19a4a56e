-- Costs of lines in subtrees, callers of their roots, and what the subtrees cost in all.
CREATE TEMP VIEW line_costs (
  function_id, file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
) AS
SELECT
  n.function_id,
  COALESCE(n.file, ''),
  n.line,
  COALESCE(n.col, 0),
  CASE COUNT(*) WHEN COUNT(n.calls) THEN SUM(n.calls) END,
  SUM(n.exclusive),
  CASE COUNT(*)
    WHEN COUNT(n.cumulative) THEN SUM(CASE WHEN n.outer_id >= s.node_id THEN 0.0 ELSE n.cumulative END)
  END,
  SUM(n.exclusive_readings),
  CASE COUNT(*)
    WHEN COUNT(n.cumulative_readings)
      THEN SUM(CASE WHEN n.outer_id >= s.node_id THEN 0.0 ELSE n.cumulative_readings END)
  END
FROM temp.subtrees AS s
CROSS JOIN temp.question_nodes AS n
WHERE s.outermost AND n.line IS NOT NULL AND n.node_id BETWEEN s.node_id AND s.last_id
GROUP BY n.function_id, COALESCE(n.file, ''), n.line, COALESCE(n.col, 0);
CREATE TEMP VIEW callers_of_selection (caller_id, line, col, kind, calls, exclusive, cumulative) AS
-- A container (a thread, a root) is no caller: its calls come from the root.
SELECT
  CASE WHEN caller.kind IN ('function', 'pseudo') THEN caller.function_id ELSE 0 END,
  CASE WHEN caller.kind IN ('function', 'pseudo') THEN above.line END,
  CASE WHEN caller.kind IN ('function', 'pseudo') THEN above.col END,
  'call',
  n.calls,
  n.exclusive,
  CASE WHEN s.outermost THEN n.cumulative ELSE 0.0 END
FROM temp.subtrees AS s
CROSS JOIN temp.question_nodes AS n
LEFT JOIN nodes AS above ON above.node_id = n.parent_id
LEFT JOIN functions AS caller ON caller.function_id = above.function_id
WHERE n.node_id = s.node_id;
CREATE TEMP VIEW selected (cost) AS
SELECT COALESCE(SUM(n.cumulative), 0.0)
FROM temp.subtrees AS s
CROSS JOIN temp.question_nodes AS n
WHERE s.outermost AND n.node_id = s.node_id;
