-- Every name, module and file that functions have, as runs have them and as the rules of identities make them.
SELECT f.name, f.module, f.file, i.name, i.module, i.file
FROM functions AS f
LEFT JOIN identities AS i ON i.identity_id = f.identity_id;
