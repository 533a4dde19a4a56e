-- The selected cost that belongs to no group, if there is any: sums are as inexact as their parts.
INSERT INTO temp.group_costs (name, kind, cost)
SELECT '(no ' || :name || ')', :kind, :selected - :shared
WHERE ABS(:selected - :shared) > 1e-9 * ABS(:selected);
