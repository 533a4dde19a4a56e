-- What the file of a run says and no column holds.
SELECT key, value FROM run_properties WHERE run_id = :run;
