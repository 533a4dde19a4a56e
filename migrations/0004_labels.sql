CREATE TABLE label_sets (
  -- Labels of samples: what a profiler knows of them besides their stacks (request, worker, size of an object). Samples
  -- with the same labels share a set.
  run_id INTEGER NOT NULL REFERENCES runs, -- the run
  set_id INTEGER NOT NULL,                 -- number of the set in its run, from 1
  key    TEXT NOT NULL,                    -- what is said; may come more than once in a set
  value  ANY NOT NULL,                     -- what is said of it: text, or a whole number
  unit   TEXT NOT NULL,                    -- what a number is counted in; '' for text, and if unknown
  PRIMARY KEY (run_id, set_id, key, value, unit)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_labels (
  -- What nodes cost themselves in samples with the same labels: part of exclusive in nodes and node_costs. What samples
  -- without labels cost has no row here.
  metric_id INTEGER NOT NULL REFERENCES metrics, -- the metric, which belongs to one run
  node_id   INTEGER NOT NULL,                    -- the node
  set_id    INTEGER NOT NULL,                    -- the labels, a set of the run
  exclusive REAL NOT NULL,                       -- cost of the node itself, in the metric's unit
  PRIMARY KEY (metric_id, node_id, set_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER runs_delete_labels BEFORE DELETE ON runs BEGIN
  -- Takes with a run the labels of its samples: before the metrics go, by which they are found.
  DELETE FROM node_labels WHERE metric_id IN (SELECT metric_id FROM metrics WHERE run_id = OLD.run_id);
  DELETE FROM label_sets WHERE run_id = OLD.run_id;
END;

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- What the planner is to expect, as for the other tables.
  ('label_sets', 'label_sets', '10000 1000 3 1 1 1'),
  ('node_labels', 'node_labels', '2000000 200000 2 1');

ANALYZE sqlite_schema;
