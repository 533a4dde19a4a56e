-- Figures that refer to a function, metric, node or run that does not exist.
SELECT 'nodes' AS relation, n.node_id AS id
FROM nodes AS n
LEFT JOIN functions AS f ON f.function_id = n.function_id
WHERE f.function_id IS NULL
UNION ALL
SELECT 'node_costs', c.node_id
FROM node_costs AS c
LEFT JOIN metrics AS m ON m.metric_id = c.metric_id
LEFT JOIN runs AS r ON r.run_id = m.run_id
WHERE r.run_id IS NULL OR c.node_id NOT BETWEEN r.first_node AND r.last_node
UNION ALL
SELECT 'function_info', i.function_id
FROM function_info AS i
LEFT JOIN metrics AS m ON m.metric_id = i.metric_id
LEFT JOIN functions AS f ON f.function_id = i.function_id
WHERE m.metric_id IS NULL OR f.function_id IS NULL
UNION ALL
SELECT 'line_info', i.function_id
FROM line_info AS i
LEFT JOIN metrics AS m ON m.metric_id = i.metric_id
LEFT JOIN functions AS f ON f.function_id = i.function_id
WHERE m.metric_id IS NULL OR f.function_id IS NULL
UNION ALL
SELECT 'edges', e.callee_id
FROM edges AS e
LEFT JOIN metrics AS m ON m.metric_id = e.metric_id
LEFT JOIN functions AS f ON f.function_id = e.callee_id
LEFT JOIN functions AS c ON c.function_id = e.caller_id
WHERE m.metric_id IS NULL OR f.function_id IS NULL OR (e.caller_id <> 0 AND c.function_id IS NULL)
UNION ALL
SELECT 'runs', r.run_id
FROM runs AS r
LEFT JOIN metrics AS m ON m.metric_id = r.default_metric_id AND m.run_id = r.run_id
WHERE r.default_metric_id IS NOT NULL AND m.metric_id IS NULL
ORDER BY 1, 2;
