-- The properties of a run that have no column in runs.
SELECT key, value FROM run_properties WHERE run_id = :run;
