-- What tells whether a run can be compared with others.
SELECT format, recorded_utc, imported_at, bias_applied, hex(fingerprint) FROM runs WHERE run_id = :run;
