-- Threads and processes grouped by identity, which does not contain their numbers.

-- Threads and processes with their identities, and threads with the identity of their process.
identified_groups AS (
  SELECT k.group_id, k.kind, k.cost, d.identity_id, d.name, COALESCE(pd.name, '') AS process
  FROM known_groups AS k CROSS JOIN functions AS f CROSS JOIN identities AS d
  LEFT JOIN functions AS p ON p.name = f.module AND p.module = '' AND p.kind = 'process' AND f.kind = 'thread'
  LEFT JOIN identities AS pd ON pd.identity_id = p.identity_id
  WHERE f.function_id = k.group_id AND d.identity_id = f.identity_id
)

-- Identities of threads that occur in several processes.
repeated_identities AS (
  SELECT identity_id, kind FROM identified_groups GROUP BY identity_id, kind HAVING COUNT(DISTINCT process) > 1
)

-- Groups of threads or processes with equal identities. They are not nested, so their costs add up. If a thread occurs in
-- several processes, it has one row per process, whose identity precedes the name.
groups_of_identities AS (
  SELECT MIN(g.group_id) AS group_id, IIF(s.identity_id IS NULL OR g.process = '', g.name, g.process || '/' || g.name) AS name, g.kind, SUM(g.cost) AS cost
  FROM identified_groups AS g
  LEFT JOIN repeated_identities AS s ON s.identity_id = g.identity_id AND s.kind = g.kind
  GROUP BY g.identity_id, g.kind, IIF(s.identity_id IS NULL OR g.process = '', g.name, g.process || '/' || g.name)
)
