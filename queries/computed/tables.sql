-- Results of a pass over the nodes. Names and columns match those of the SQL fragments with equal contents.
CREATE TEMP TABLE IF NOT EXISTS selected (
  cost REAL NOT NULL -- cost of all selected nodes
);
CREATE TEMP TABLE IF NOT EXISTS function_costs (
  function_id INTEGER PRIMARY KEY, -- a function, or the first of its group
  calls       INTEGER,             -- number of calls; NULL if unknown
  exclusive   REAL,                -- exclusive cost
  cumulative  REAL,                -- inclusive cost, recursion counted once; NULL if unknown
  seen        REAL                 -- inclusive cost, every level of recursion counted; NULL if unknown
);
CREATE TEMP TABLE IF NOT EXISTS line_costs (
  function_id INTEGER NOT NULL, -- the function
  file        TEXT NOT NULL,    -- file of the line if it differs from the function's file, else ''
  line        INTEGER NOT NULL, -- the line
  col         INTEGER NOT NULL, -- column or clause; 0 if unknown
  calls       INTEGER,          -- number of executions; NULL if unknown
  exclusive   REAL,             -- exclusive cost
  cumulative  REAL              -- inclusive cost; NULL if unknown
);
CREATE TEMP TABLE IF NOT EXISTS element_costs (
  function_id         INTEGER NOT NULL, -- the function
  line_file           TEXT NOT NULL,    -- file of the line if it differs from the function's file, else ''
  line                INTEGER,          -- the line; NULL for the function
  col                 INTEGER NOT NULL, -- column or clause; 0 if unknown
  calls               INTEGER,          -- number of calls or executions; NULL if unknown
  exclusive           REAL,             -- exclusive cost
  cumulative          REAL,             -- inclusive cost; NULL if unknown
  exclusive_readings  REAL,             -- readings of the timer for the exclusive time; NULL if unknown
  cumulative_readings REAL              -- readings of the timer for the cumulative time; NULL if unknown
);
CREATE TEMP TABLE IF NOT EXISTS callers_of_selection (
  caller_id  INTEGER NOT NULL, -- the caller; 0 for the root
  line_file  TEXT,             -- file of the calling line if it differs from the caller's file; else NULL
  line       INTEGER,          -- the calling line; NULL if unknown
  col        INTEGER,          -- column or clause of that line; NULL if unknown
  kind       TEXT NOT NULL,    -- call
  calls      INTEGER,          -- number of calls; NULL if unknown
  exclusive  REAL,             -- exclusive cost of the callee
  cumulative REAL              -- inclusive cost of the callee
);
CREATE TEMP TABLE IF NOT EXISTS callees_of_selection (
  callee_id  INTEGER NOT NULL, -- the callee: a function, or the first of its group
  caller_id  INTEGER NOT NULL, -- the caller
  line_file  TEXT,             -- file of the calling line if it differs from the caller's file; else NULL
  line       INTEGER,          -- the calling line; NULL if unknown
  col        INTEGER,          -- column or clause of that line; NULL if unknown
  kind       TEXT NOT NULL,    -- call
  calls      INTEGER,          -- number of calls; NULL if unknown
  exclusive  REAL,             -- exclusive cost of the callee
  cumulative REAL              -- inclusive cost of the callee, counted once on each path
);
CREATE TEMP TABLE IF NOT EXISTS known_groups (
  group_id INTEGER PRIMARY KEY, -- a thread or a process
  name     TEXT NOT NULL,       -- its name
  kind     TEXT NOT NULL,       -- thread or process
  cost     REAL                 -- its share of the selected cost
);
CREATE TEMP TABLE IF NOT EXISTS selected_labels (
  set_id    INTEGER NOT NULL, -- set of labels
  exclusive REAL NOT NULL     -- cost of the samples with these labels
);
DELETE FROM temp.selected;
DELETE FROM temp.function_costs;
DELETE FROM temp.line_costs;
DELETE FROM temp.element_costs;
DELETE FROM temp.callers_of_selection;
DELETE FROM temp.callees_of_selection;
DELETE FROM temp.known_groups;
DELETE FROM temp.selected_labels;
