-- Tables of what a pass over nodes has found, with the names and columns of the parts of a statement that say the same.
CREATE TEMP TABLE IF NOT EXISTS selected (
  cost REAL NOT NULL -- what the selected nodes cost in all
);
CREATE TEMP TABLE IF NOT EXISTS function_costs (
  function_id INTEGER PRIMARY KEY, -- a function, or the first of its group
  calls       INTEGER,             -- how often called; NULL if unknown
  exclusive   REAL,                -- cost of the function itself
  cumulative  REAL,                -- cost with what it called; NULL if unknown
  seen        REAL                 -- the same with every level of recursion counted; NULL if unknown
);
CREATE TEMP TABLE IF NOT EXISTS line_costs (
  function_id INTEGER NOT NULL, -- the function
  file        TEXT NOT NULL,    -- file of the line where it is not the function's own, else ''
  line        INTEGER NOT NULL, -- the line
  col         INTEGER NOT NULL, -- column or clause; 0 if unknown
  calls       INTEGER,          -- how often executed; NULL if unknown
  exclusive   REAL,             -- cost of the line itself
  cumulative  REAL              -- cost with what it called; NULL if unknown
);
CREATE TEMP TABLE IF NOT EXISTS element_costs (
  function_id         INTEGER NOT NULL, -- the function
  line_file           TEXT NOT NULL,    -- file of the line where it is not the function's own, else ''
  line                INTEGER,          -- the line; NULL for the function
  col                 INTEGER NOT NULL, -- column or clause; 0 if unknown
  calls               INTEGER,          -- how often called or executed; NULL if unknown
  exclusive           REAL,             -- cost of the function or line itself
  cumulative          REAL,             -- cost with what it called; NULL if unknown
  exclusive_readings  REAL,             -- readings of the timer for the exclusive time; NULL if unknown
  cumulative_readings REAL              -- readings of the timer for the cumulative time; NULL if unknown
);
CREATE TEMP TABLE IF NOT EXISTS callers_of_selection (
  caller_id  INTEGER NOT NULL, -- who called; 0 for the root
  line_file  TEXT,             -- file of the line where it is not the caller's own; else NULL
  line       INTEGER,          -- from which line; NULL if unknown
  col        INTEGER,          -- from which column; NULL if unknown
  kind       TEXT NOT NULL,    -- call
  calls      INTEGER,          -- how often; NULL if unknown
  exclusive  REAL,             -- cost of what was called
  cumulative REAL              -- the same with what that called
);
CREATE TEMP TABLE IF NOT EXISTS callees_of_selection (
  callee_id  INTEGER NOT NULL, -- who was called: a function, or the first of its group
  caller_id  INTEGER NOT NULL, -- who called
  line_file  TEXT,             -- file of the line where it is not the caller's own; else NULL
  line       INTEGER,          -- from which line; NULL if unknown
  col        INTEGER,          -- from which column; NULL if unknown
  kind       TEXT NOT NULL,    -- call
  calls      INTEGER,          -- how often; NULL if unknown
  exclusive  REAL,             -- cost of what was called
  cumulative REAL              -- the same with what that called, counted once on each path
);
CREATE TEMP TABLE IF NOT EXISTS known_groups (
  group_id INTEGER PRIMARY KEY, -- a thread or a process
  name     TEXT NOT NULL,       -- its name
  kind     TEXT NOT NULL,       -- thread or process
  cost     REAL                 -- its part of the selected cost
);
CREATE TEMP TABLE IF NOT EXISTS selected_labels (
  set_id    INTEGER NOT NULL, -- the labels of samples
  exclusive REAL NOT NULL     -- what these samples cost
);
DELETE FROM temp.selected;
DELETE FROM temp.function_costs;
DELETE FROM temp.line_costs;
DELETE FROM temp.element_costs;
DELETE FROM temp.callers_of_selection;
DELETE FROM temp.callees_of_selection;
DELETE FROM temp.known_groups;
DELETE FROM temp.selected_labels;
