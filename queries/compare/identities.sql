-- The identities of all functions of a metric. A join for all functions takes a tenth of the time of separate look-ups.
SELECT d.function_id, f.kind, i.identity_key, i.name, i.module, i.file, i.unnamed, f.name, f.module, f.file, f.first_line
FROM function_info AS d
CROSS JOIN functions AS f ON f.function_id = d.function_id
CROSS JOIN identities AS i ON i.identity_id = f.identity_id
WHERE d.metric_id = :metric;
