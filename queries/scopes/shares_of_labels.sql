-- What is selected, by the values of a label. A sample with two of them counts for both.
INSERT INTO temp.shares (name, kind, cost)
SELECT k.value || CASE k.unit WHEN '' THEN '' ELSE ' ' || k.unit END, 'tag', SUM(c.exclusive)
FROM temp.asked AS a
CROSS JOIN temp.subtrees AS s
CROSS JOIN temp.asked_labels AS c
CROSS JOIN label_sets AS k
WHERE a.question = 1
  AND s.outermost
  AND c.node_id BETWEEN s.node_id AND s.last_id
  AND k.run_id = a.run_id
  AND k.set_id = c.set_id
  AND k.key = :key
GROUP BY k.value, k.unit;
