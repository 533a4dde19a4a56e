-- Makes percentages refer to the selected cost.
UPDATE temp.question
SET total = (SELECT cost FROM temp.selected);
