PRAGMA legacy_alter_table = ON;

ALTER TABLE nodes RENAME TO nodes_0001;

CREATE TABLE nodes (
  -- The call trees of all runs. A node is a function reached by one chain of callers (line IS NULL), or one line of the
  -- function node above it. Function nodes hold everything, line nodes break it down: never add the two. Nodes are
  -- numbered in pre-order (parent first), so that the nodes below n are node_id > n.node_id AND node_id <= n.last_id.
  -- Ask by run, through the view tree. What most rows would repeat is generated: write the columns called _other.
  node_id          INTEGER PRIMARY KEY, -- number in pre-order; runs.first_node..runs.last_node are one run
  up               INTEGER,             -- node_id less that of the parent; NULL at a root
  size             INTEGER NOT NULL,    -- how many nodes are below
  depth            INTEGER NOT NULL,    -- how many nodes are above: 0 at a root
  function_id      INTEGER NOT NULL,    -- the function that was running
  calls            INTEGER,             -- how often called (lines: executed) here; NULL if unknown
  exclusive        REAL NOT NULL,       -- cost of the node itself in the run's default metric, in the metric's unit
  line             INTEGER,             -- line number; NULL in function nodes
  cumulative_other REAL,                -- cumulative, in the metric's unit, where it is not the same as exclusive:
                                        -- NULL where it is, infinity if unknown
  outer_up         INTEGER,             -- node_id less that of the nearest enclosing node of the same function (line
                                        -- nodes: of the same line); NULL if there is none
  col              INTEGER,             -- column or clause of the line; NULL if unknown
  file             TEXT,                -- file of the line where it is not the function's own; else NULL
  cumulative       ANY GENERATED ALWAYS -- cost with everything called, in the metric's unit; NULL for lines if unknown
                   AS (NULLIF(COALESCE(cumulative_other, exclusive), 9e999)) VIRTUAL,
  parent_id        INTEGER GENERATED ALWAYS AS (node_id - up) VIRTUAL,      -- the node above; NULL at a root
  last_id          INTEGER GENERATED ALWAYS AS (node_id + size) VIRTUAL,    -- the last node below, itself if none
  outer_id         INTEGER GENERATED ALWAYS AS (node_id - outer_up) VIRTUAL -- the enclosing node of the same function;
                                                                            -- add cumulative only where it is NULL,
                                                                            -- else recursion counts twice
) STRICT;

INSERT INTO nodes (
  node_id, up, size, depth, function_id, calls, exclusive, line, cumulative_other, outer_up, col, file
)
SELECT
  node_id, up, size, depth, function_id, calls, exclusive, line,
  CASE WHEN cumulative = exclusive THEN NULL ELSE COALESCE(cumulative, 9e999) END,
  outer_up, col, file
FROM nodes_0001
ORDER BY node_id;

DROP TABLE nodes_0001;

ALTER TABLE node_costs RENAME TO node_costs_0001;

CREATE TABLE node_costs (
  -- Costs of nodes in the metrics that are not the run's default one. A node without a row here cost 0.
  metric_id        INTEGER NOT NULL, -- the metric
  node_id          INTEGER NOT NULL, -- the node
  exclusive        REAL NOT NULL,    -- cost of the node itself, in the metric's unit
  cumulative_other REAL,             -- cumulative, in the metric's unit, where it is not the same as exclusive:
                                     -- NULL where it is, infinity if unknown
  cumulative       ANY GENERATED ALWAYS -- cost with everything called, in the metric's unit; NULL if unknown
                   AS (NULLIF(COALESCE(cumulative_other, exclusive), 9e999)) VIRTUAL,
  PRIMARY KEY (metric_id, node_id)
) STRICT, WITHOUT ROWID;

INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative_other)
SELECT
  metric_id, node_id, exclusive,
  CASE WHEN cumulative = exclusive THEN NULL ELSE COALESCE(cumulative, 9e999) END
FROM node_costs_0001
ORDER BY metric_id, node_id;

DROP TABLE node_costs_0001;

ALTER TABLE edges RENAME TO edges_0001;

DROP INDEX edges_by_caller;

CREATE TABLE edges (
  -- Who called whom (caller -> callee), added up over the whole run, by line of the caller. With recursion no single
  -- figure for cost with everything called can serve all questions, so there are three: cumulative, outermost and seen.
  -- Where nothing recurs they are equal.
  metric_id       INTEGER NOT NULL REFERENCES metrics,   -- the metric, which belongs to one run
  callee_id       INTEGER NOT NULL REFERENCES functions, -- who was called
  caller_id       INTEGER NOT NULL,                      -- who called: a function_id, or 0: nobody, it was at the root
  caller_line     INTEGER NOT NULL,                      -- from which line; -1 if unknown (0 is a line)
  caller_col      INTEGER NOT NULL,                      -- from which column or clause of that line; 0 if unknown
  back            INTEGER NOT NULL                       -- 1 for a call known to exist, without cost of its own because
                  CHECK (back IN (0, 1)),                -- the profiler has folded it into a node further up; else 0
  calls           INTEGER,                               -- how often; NULL if unknown
  exclusive       REAL,                                  -- the callee's own cost when called here, in the metric's
                                                         -- unit; NULL if unknown
  cumulative      REAL,                                  -- what the caller spent in the callee, in the metric's unit:
                                                         -- on each path the pair counts once, at the outer call; NULL
                                                         -- if unknown
  outermost_other REAL,                                  -- outermost, in the metric's unit, where it is not the same
                                                         -- as cumulative: NULL where it is, infinity if unknown
  seen_other      REAL,                                  -- seen, in the metric's unit, where it is not the same as
                                                         -- cumulative: NULL where it is, infinity if unknown
  kind            TEXT GENERATED ALWAYS -- call, or back
                  AS (CASE back WHEN 0 THEN 'call' ELSE 'back' END) VIRTUAL,
  outermost       ANY GENERATED ALWAYS -- cost where the callee is not open already, in the metric's unit: adds up
                                       -- over all callers to the callee's cumulative; NULL if unknown
                  AS (NULLIF(COALESCE(outermost_other, cumulative), 9e999)) VIRTUAL,
  seen            ANY GENERATED ALWAYS -- cost with every level of recursion counted, in the metric's unit; NULL if
                                       -- unknown
                  AS (NULLIF(COALESCE(seen_other, cumulative), 9e999)) VIRTUAL,
  PRIMARY KEY (metric_id, callee_id, caller_id, caller_line, caller_col, back)
) STRICT, WITHOUT ROWID;

INSERT INTO edges (
  metric_id, callee_id, caller_id, caller_line, caller_col, back, calls, exclusive, cumulative, outermost_other,
  seen_other
)
SELECT
  metric_id, callee_id, caller_id, caller_line, caller_col, kind = 'back', calls, exclusive, cumulative,
  CASE WHEN outermost IS cumulative THEN NULL ELSE COALESCE(outermost, 9e999) END,
  CASE WHEN seen IS cumulative THEN NULL ELSE COALESCE(seen, 9e999) END
FROM edges_0001
ORDER BY metric_id, callee_id, caller_id, caller_line, caller_col, kind = 'back';

DROP TABLE edges_0001;

CREATE INDEX edges_by_caller ON edges (
  -- Finds whom a function called; the key of the table finds by whom it was called.
  metric_id, caller_id
);

INSERT INTO sqlite_stat1 (tbl, idx, stat)
VALUES
  -- Went with the table that it was about; 0001 says what it means.
  ('edges', 'edges_by_caller', '2000000 100000 10');

PRAGMA legacy_alter_table = OFF;

ANALYZE sqlite_schema;
