-- Threads and processes without their numbers.

-- Those of one identity together: none lies within another, so that their costs add up.
groups_of_identities AS (
  SELECT MIN(k.group_id) AS group_id, d.name, k.kind, SUM(k.cost) AS cost
  FROM known_groups AS k CROSS JOIN functions AS f CROSS JOIN identities AS d
  WHERE f.function_id = k.group_id AND d.identity_id = f.identity_id
  GROUP BY d.identity_id, k.kind
)
