-- The functions with a name, of the requested kinds.
SELECT f.function_id FROM functions AS f WHERE f.name = :name_$step AND f.kind $kinds
