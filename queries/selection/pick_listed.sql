-- The functions that a regular expression fits: a list of numbers, because SQL has no regular expressions of its own.
INSERT INTO temp.picked (step, function_id)
SELECT :step, value
FROM json_each(:functions);
