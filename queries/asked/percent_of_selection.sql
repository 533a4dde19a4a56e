-- Percentages of what is selected.
UPDATE temp.asked
SET total = (SELECT cost FROM temp.selected);
