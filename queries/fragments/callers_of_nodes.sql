-- Who called the selected nodes. A container (a thread, a root) is no caller: its calls come from the root.
SELECT COALESCE(c.function_id, 0) AS caller_id, IIF(c.function_id IS NULL, NULL, above.line) AS line,
  IIF(c.function_id IS NULL, NULL, above.col) AS col, 'call' AS kind, n.calls, n.exclusive,
  IIF(s.outermost, n.cumulative, 0.0) AS cumulative
FROM subtrees AS s CROSS JOIN $nodes AS n
LEFT JOIN nodes AS above ON above.node_id = n.parent_id
LEFT JOIN functions AS c ON c.function_id = above.function_id AND c.kind IN ('function', 'pseudo')
WHERE n.node_id = s.node_id
