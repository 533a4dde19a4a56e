-- The functions that a filter fits: a list of numbers, because SQL has no regular expressions of its own.
INSERT INTO temp.matched (filter, function_id)
SELECT :filter, value
FROM json_each(:functions);
