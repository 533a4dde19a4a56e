-- Removes the costs of single functions, before those of groups take their place.
DROP VIEW temp.function_costs;
