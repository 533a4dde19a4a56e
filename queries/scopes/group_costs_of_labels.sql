-- The selected cost by value of a label. A sample with two values counts for both.
INSERT INTO temp.group_costs (name, kind, cost)
SELECT k.value || CASE k.unit WHEN '' THEN '' ELSE ' ' || k.unit END, 'tag', SUM(c.exclusive)
FROM temp.question AS q
CROSS JOIN temp.subtrees AS s
CROSS JOIN temp.question_labels AS c
CROSS JOIN label_sets AS k
WHERE q.question_id = 1
  AND s.outermost
  AND c.node_id BETWEEN s.node_id AND s.last_id
  AND k.run_id = q.run_id
  AND k.set_id = c.set_id
  AND k.key = :key
GROUP BY k.value, k.unit;
