-- Begins the walks: at level 0 a chain is one function.
INSERT INTO temp.ancestor_walk (level, node_id, at_id, chain_id, up_id, calls, cost)
SELECT
  0,
  node_id,
  node_id,
  MIN(node_id) OVER (PARTITION BY function_id),
  NULL,
  calls,
  CASE WHEN :exclusive THEN exclusive ELSE cumulative END
FROM temp.starts;
