-- How columns are made that files do not have as they are: for each rule of src/dataset/tables.rs the expression by which all engines
-- compute it. $name is the column, $distance a column of files, $usual the expression of another column. Digits and what they are divided by
-- are numbers that floating-point numbers hold exactly, so that the quotient is the cost bit by bit. What is infinite is unknown: no
-- cost is as large as the largest number that is compared with.

minus: t.node_id - t.$distance
plus: t.node_id + t.$distance
cost: COALESCE(t.$name_digits / t.$name_scale, t.$name_other)
cost_or: CASE WHEN t.$name_scale = 0 THEN NULL WHEN t.$name_digits IS NOT NULL THEN t.$name_digits / t.$name_scale ELSE COALESCE(t.$name_other, $usual) END
other: CASE WHEN t.$name_other IS NULL THEN $usual WHEN t.$name_other > 1.7976931348623157E308 THEN NULL ELSE t.$name_other END
identity_name: CASE WHEN t.identity_key IS NULL THEN NULL ELSE COALESCE(t.identity_name_other, t.name) END
