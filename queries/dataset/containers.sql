-- Costs of threads or processes, in SQL that all engines have.

-- Without columns that are not in GROUP BY.
known_groups AS (
  SELECT f.function_id AS group_id, MIN(IIF(f.module <> '' AND f.name IN (SELECT rn.name FROM repeated_names AS rn), f.module || '/' || f.name, f.name)) AS name, MIN(f.kind) AS kind, SUM(n.cumulative) AS cost
  FROM $selected_containers AS c CROSS JOIN $nodes AS n CROSS JOIN functions AS f
  WHERE $in_containers AND f.function_id = c.function_id
  GROUP BY f.function_id
)
