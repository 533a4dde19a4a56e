-- Expressions for columns that files store in another form, one for each rule of src/dataset/tables.rs. All engines can compute
-- them. $name is the column, $distance a column of the file, $usual the expression of another column. Digits and scales are
-- exact floating-point numbers, so the quotient is exactly the cost. Infinity means unknown: every cost is less than the
-- maximum in the comparison.

minus: t.node_id - t.$distance
plus: t.node_id + t.$distance
cost: COALESCE(t.$name_digits / t.$name_scale, t.$name_other)
cost_or: CASE WHEN t.$name_scale = 0 THEN NULL WHEN t.$name_digits IS NOT NULL THEN t.$name_digits / t.$name_scale ELSE COALESCE(t.$name_other, $usual) END
other: CASE WHEN t.$name_other IS NULL THEN $usual WHEN t.$name_other > 1.7976931348623157E308 THEN NULL ELSE t.$name_other END
identity_name: CASE WHEN t.identity_key IS NULL THEN NULL ELSE COALESCE(t.identity_name_other, t.name) END
