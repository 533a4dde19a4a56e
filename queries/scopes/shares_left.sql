-- What is left of the selected cost, if anything is: sums are as inexact as their parts.
INSERT INTO temp.shares (name, kind, cost)
SELECT '(no ' || :name || ')', :kind, :selected - :shared
WHERE ABS(:selected - :shared) > 1e-9 * ABS(:selected);
