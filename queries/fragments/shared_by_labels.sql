-- Cost of the samples that have a label with the key, each sample once.
SELECT COALESCE(SUM(c.exclusive), 0.0) AS cost FROM subtrees AS s CROSS JOIN labels_of_nodes AS c
WHERE s.outermost AND c.node_id BETWEEN s.node_id AND s.last_id
  AND EXISTS (SELECT 1 FROM label_sets AS k WHERE k.run_id = :run AND k.set_id = c.set_id AND k.key = :by_key)
