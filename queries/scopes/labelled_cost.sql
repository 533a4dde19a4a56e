-- Cost of the samples that have a label with this key, each sample once.
SELECT COALESCE(SUM(c.exclusive), 0.0)
FROM temp.question AS q
CROSS JOIN temp.subtrees AS s
CROSS JOIN temp.question_labels AS c
WHERE q.question_id = 1
  AND s.outermost
  AND c.node_id BETWEEN s.node_id AND s.last_id
  AND EXISTS (SELECT 1 FROM label_sets AS k WHERE k.run_id = q.run_id AND k.set_id = c.set_id AND k.key = :key);
