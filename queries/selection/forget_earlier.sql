-- Leaves the rows of the last step only.
DELETE FROM temp.selection
WHERE step < (SELECT MAX(step) FROM temp.selection);
