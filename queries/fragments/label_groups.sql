-- What samples cost by the value of a label, in words of all engines.

-- The selected cost by value of a label, numbered in the order of texts, which numbers have in datasets. A sample with two values counts for
-- both. Numbers of groups have a sign: no group is number -1.
known_groups AS (
  SELECT CAST(ROW_NUMBER() OVER (ORDER BY CAST(k.value AS TEXT), k.unit, k.value) AS BIGINT) AS group_id,
    CAST(k.value AS TEXT) || IIF(k.unit = '', '', ' ' || k.unit) AS name, 'label' AS kind, SUM(c.exclusive) AS cost
  FROM selected_labels AS c CROSS JOIN label_sets AS k
  WHERE k.run_id = :run AND k.set_id = c.set_id AND k.key = :by_key
  GROUP BY k.value, k.unit
)

-- Cost of the samples that have a label with the key, each sample once: not all engines look at each row of another table for a row.
shared AS (
  SELECT COALESCE(SUM(c.exclusive), 0.0) AS cost FROM selected_labels AS c
  WHERE c.set_id IN (SELECT k.set_id FROM label_sets AS k WHERE k.run_id = :run AND k.key = :by_key)
)
