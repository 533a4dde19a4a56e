-- What the callers' tree leaves out: functions it could begin with, their cost and its share.
SELECT COUNT(DISTINCT n.function_id), COALESCE(SUM($start_cost), 0.0), 100 * COALESCE(SUM($start_cost), 0.0) / $total
FROM $starts CROSS JOIN functions AS f
WHERE $in_starts AND f.function_id = n.function_id$start_kinds
  AND '/' || n.function_id NOT IN (SELECT k.chain FROM chains AS k WHERE k.level = 0$first_chains);
