-- Columns of tables that files do not have as they are: for each the expression by which all engines compute it. Digits and what they
-- are divided by are numbers that floating-point numbers hold exactly, so that the quotient is the cost bit by bit. What is infinite is
-- unknown: no cost is as large as the largest number that is compared with.

-- nodes
parent_id: t.node_id - t.up
last_id: t.node_id + t.size
outer_id: t.node_id - t.outer_up
exclusive: COALESCE(t.exclusive_digits / t.exclusive_scale, t.exclusive_other)
cumulative: CASE WHEN t.cumulative_scale = 0 THEN NULL WHEN t.cumulative_digits IS NOT NULL THEN t.cumulative_digits / t.cumulative_scale ELSE COALESCE(t.cumulative_other, t.exclusive_digits / t.exclusive_scale, t.exclusive_other) END

-- node_costs
exclusive: COALESCE(t.exclusive_digits / t.exclusive_scale, t.exclusive_other)
cumulative: CASE WHEN t.cumulative_scale = 0 THEN NULL WHEN t.cumulative_digits IS NOT NULL THEN t.cumulative_digits / t.cumulative_scale ELSE COALESCE(t.cumulative_other, t.exclusive_digits / t.exclusive_scale, t.exclusive_other) END

-- edges
outermost: CASE WHEN t.outermost_other IS NULL THEN t.cumulative WHEN t.outermost_other > 1.7976931348623157E308 THEN NULL ELSE t.outermost_other END
seen: CASE WHEN t.seen_other IS NULL THEN t.cumulative WHEN t.seen_other > 1.7976931348623157E308 THEN NULL ELSE t.seen_other END

-- line_info
cumulative: CASE WHEN t.cumulative_other IS NULL THEN t.exclusive WHEN t.cumulative_other > 1.7976931348623157E308 THEN NULL ELSE t.cumulative_other END

-- function_info
seen: CASE WHEN t.seen_other IS NULL THEN t.cumulative WHEN t.seen_other > 1.7976931348623157E308 THEN NULL ELSE t.seen_other END
