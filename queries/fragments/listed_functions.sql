-- The functions that match a regular expression, as a list of numbers: SQLite has no regular expressions.
SELECT value AS function_id FROM json_each(:name_$step)
