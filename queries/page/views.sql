-- 1 or 0 each: the run has lines, counts of executed lines, stored source.
SELECT
  EXISTS (SELECT 1 FROM line_info AS i WHERE i.metric_id = :metric),
  EXISTS (SELECT 1 FROM line_info AS i WHERE i.metric_id = :metric AND i.calls IS NOT NULL),
  EXISTS (SELECT 1 FROM metrics AS m CROSS JOIN run_sources AS s ON s.run_id = m.run_id WHERE m.metric_id = :metric)
