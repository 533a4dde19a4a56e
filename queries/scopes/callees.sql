-- Callees of the selected nodes, as functions or groups: on each path the pair counts once, at the outer call.
CREATE TEMP VIEW callees_of_selection (callee_id, line, col, kind, calls, exclusive, cumulative) AS
SELECT
  callee_id,
  line,
  col,
  'call',
  calls,
  exclusive,
  CASE WHEN outermost THEN cumulative ELSE 0.0 END
FROM (
  SELECT
    g.group_id AS callee_id,
    above.line,
    above.col,
    n.calls,
    n.exclusive,
    n.cumulative,
    COALESCE(
      n.node_id > MAX(n.last_id) OVER (
        PARTITION BY g.group_id ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      1
    ) AS outermost
  FROM temp.subtrees AS s
  CROSS JOIN temp.question_nodes AS n
  CROSS JOIN temp.question_nodes AS above
  CROSS JOIN temp.subtrees AS caller
  CROSS JOIN temp.group_of AS g
  WHERE s.outermost
    AND n.line IS NULL
    AND n.node_id > s.node_id
    AND n.node_id <= s.last_id
    AND above.node_id = n.parent_id
    AND caller.node_id = CASE WHEN above.line IS NULL THEN above.node_id ELSE above.parent_id END
    AND g.function_id = n.function_id
);
