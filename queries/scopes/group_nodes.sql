-- Groups of functions within subtrees: cost is counted where no function of the same group encloses the node.
CREATE TEMP VIEW function_costs (function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings) AS
SELECT
  group_id,
  CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END,
  SUM(exclusive),
  SUM(CASE WHEN outermost THEN cumulative ELSE 0.0 END),
  SUM(exclusive_readings),
  SUM(CASE WHEN outermost THEN cumulative_readings ELSE 0.0 END)
FROM (
  SELECT
    g.group_id,
    n.calls,
    n.exclusive,
    n.cumulative,
    n.exclusive_readings,
    n.cumulative_readings,
    COALESCE(
      n.node_id > MAX(n.last_id) OVER (
        PARTITION BY g.group_id ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      1
    ) AS outermost
  FROM temp.subtrees AS s
  CROSS JOIN temp.question_nodes AS n
  CROSS JOIN temp.groups AS g
  WHERE s.outermost
    AND n.line IS NULL
    AND n.node_id BETWEEN s.node_id AND s.last_id
    AND g.function_id = n.function_id
)
GROUP BY group_id;
