SELECT s.run_uid AS run_uid, f.name AS function, s.file AS file, t.line AS line, t.text AS text, s.sha256 AS sha256,
  s.function_key AS function_key
FROM runs AS r
JOIN run_sources AS s ON s.run_uid = r.run_uid
JOIN functions AS f ON f.run_uid = s.run_uid AND f.function_key = s.function_key
JOIN source_texts AS t ON t.run_uid = s.run_uid AND t.sha256 = s.sha256 AND t.first_line = s.first_line
