-- Properties that assign runs to series and give their position: of all runs, or of the runs in a JSON array.
SELECT run_id, title, command, format, tool_version, recorded_at, recorded_utc, imported_at, hex(fingerprint)
FROM runs
WHERE :runs IS NULL OR run_id IN (SELECT value FROM JSON_EACH(:runs))
ORDER BY run_id;
