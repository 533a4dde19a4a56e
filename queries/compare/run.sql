-- Properties of a run that decide whether it can be compared with other runs.
SELECT format, recorded_utc, imported_at, bias_applied, hex(fingerprint) FROM runs WHERE run_id = :run;
