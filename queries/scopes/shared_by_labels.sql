-- What samples with some value of a label cost, each once.
SELECT COALESCE(SUM(c.exclusive), 0.0)
FROM temp.asked AS a
CROSS JOIN temp.subtrees AS s
CROSS JOIN temp.asked_labels AS c
WHERE a.question = 1
  AND s.outermost
  AND c.node_id BETWEEN s.node_id AND s.last_id
  AND EXISTS (SELECT 1 FROM label_sets AS k WHERE k.run_id = a.run_id AND k.set_id = c.set_id AND k.key = :key);
