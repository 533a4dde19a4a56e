-- The functions that a regular expression fits: a list of numbers, because SQL has no regular expressions of its own.
SELECT value AS function_id FROM json_each(:name_$step)
