-- Costs of samples by label value, in SQL that all engines have.

-- The selected cost by label value. The groups are numbered in text order, because datasets also store numbers as text. A
-- sample with two values counts for both. The numbers are signed, because the cost outside all groups has number -1.
known_groups AS (
  SELECT CAST(ROW_NUMBER() OVER (ORDER BY CAST(k.value AS TEXT), k.unit, k.value) AS BIGINT) AS group_id,
    CAST(k.value AS TEXT) || IIF(k.unit = '', '', ' ' || k.unit) AS name, 'label' AS kind, SUM(c.exclusive) AS cost
  FROM selected_labels AS c CROSS JOIN label_sets AS k
  WHERE k.run_id = :run AND k.set_id = c.set_id AND k.key = :by_key
  GROUP BY k.value, k.unit
)

-- Cost of the samples with the label key, each sample counted once. Some engines cannot run a correlated subquery here.
shared AS (
  SELECT COALESCE(SUM(c.exclusive), 0.0) AS cost FROM selected_labels AS c
  WHERE c.set_id IN (SELECT k.set_id FROM label_sets AS k WHERE k.run_id = :run AND k.key = :by_key)
)
