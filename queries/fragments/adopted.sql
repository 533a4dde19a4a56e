-- What hidden functions cost goes to the nearest node above, and where that is a line, to its function, too.
SELECT IIF(to_line, above.parent_id, h.at_id) AS node_id, SUM(h.exclusive) AS cost
FROM hidden AS h CROSS JOIN nodes AS above CROSS JOIN (SELECT 0 AS to_line UNION ALL SELECT 1)
WHERE h.line IS NULL AND above.node_id = h.at_id AND (NOT to_line OR above.line IS NOT NULL)
GROUP BY 1
