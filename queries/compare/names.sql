-- All names, modules and files of functions, as in the runs and as in their identities.
SELECT f.name, f.module, f.file, i.name, i.module, i.file
FROM functions AS f
LEFT JOIN identities AS i ON i.identity_id = f.identity_id;
