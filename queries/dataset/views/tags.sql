SELECT l.run_uid AS run_uid, l.run AS run, l.metric AS metric, l.unit AS unit, l.key AS key, l.value AS value,
  l.value_unit AS value_unit, l.exclusive AS exclusive, l.exclusive_pct AS exclusive_pct
FROM labels AS l
