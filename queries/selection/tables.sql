-- Temporary tables that the statements of one report fill and read.
CREATE TEMP TABLE IF NOT EXISTS question (
  question_id          INTEGER PRIMARY KEY, -- always 1: the planner knows by this key that there is one row
  run_id               INTEGER NOT NULL, -- the run
  metric_id            INTEGER NOT NULL, -- the metric
  is_default           INTEGER NOT NULL, -- 1 if nodes hold the metric's costs, 0 if node_costs does
  readings_id          INTEGER,          -- the run's metric that counts timer readings; NULL if it has none
  readings_are_default INTEGER NOT NULL, -- 1 if nodes hold the timer readings
  shift                REAL NOT NULL,    -- ns to add to a time for each timer reading; 0 for times as they are stored
  total                REAL              -- 100 % of percentages
);
CREATE TEMP TABLE IF NOT EXISTS picked (
  -- The functions that the names of a path mean.
  step        INTEGER NOT NULL, -- number of the step, from 1
  function_id INTEGER NOT NULL, -- a function that its name means
  PRIMARY KEY (step, function_id)
) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS selection (
  -- What a path reaches, one row per step and node.
  step      INTEGER NOT NULL, -- number of the step, from 1
  node_id   INTEGER NOT NULL, -- a node that the path up to here reaches
  last_id   INTEGER NOT NULL, -- the last node below it
  outermost INTEGER NOT NULL, -- 1 if no other node of the step encloses it: these subtrees are disjoint
  PRIMARY KEY (step, node_id)
) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS subtrees (
  -- What a path selects: the nodes of its last step that are left.
  node_id   INTEGER PRIMARY KEY, -- a node
  last_id   INTEGER NOT NULL,    -- the last node below it
  outermost INTEGER NOT NULL     -- 1 if no other of these encloses it: these subtrees are disjoint
);
CREATE TEMP TABLE IF NOT EXISTS matched (
  -- The functions that a filter means.
  filter      TEXT NOT NULL,    -- focus, ignore or hide
  function_id INTEGER NOT NULL, -- a function whose name, module or file fits it
  PRIMARY KEY (filter, function_id)
) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS groups (
  -- Functions that are counted as one: those of a module or of a file.
  function_id INTEGER PRIMARY KEY, -- a function
  group_id    INTEGER NOT NULL     -- the first function of its group, which represents it
);
CREATE TEMP TABLE IF NOT EXISTS group_costs (
  -- Costs by thread, process or value of a label.
  group_id INTEGER PRIMARY KEY, -- number of the group
  name     TEXT NOT NULL,       -- its name
  kind     TEXT NOT NULL,       -- thread, process or tag
  cost     REAL                 -- what it cost
);
CREATE TEMP TABLE IF NOT EXISTS containers (
  -- Where threads or processes are.
  node_id     INTEGER PRIMARY KEY, -- a node of their kind
  last_id     INTEGER NOT NULL,    -- the last node below it
  function_id INTEGER NOT NULL     -- what it is called
);
CREATE TEMP TABLE IF NOT EXISTS wanted_sets (
  -- The sets of labels that have every label asked for with --tag.
  set_id INTEGER PRIMARY KEY -- number of the set
);
CREATE TEMP TABLE IF NOT EXISTS labelled (
  -- What samples with wanted sets of labels cost.
  node_id   INTEGER PRIMARY KEY, -- a node
  exclusive REAL NOT NULL        -- what is left of its own cost
);
CREATE TEMP TABLE IF NOT EXISTS visible (
  -- The tree that filters leave: the rows of the nodes with the costs that are kept.
  node_id    INTEGER PRIMARY KEY, -- number of the node
  last_id    INTEGER NOT NULL,    -- the last node below it
  parent_id  INTEGER,             -- the nearest visible node above; NULL if there is none
  outer_id   INTEGER,             -- the nearest enclosing node of the same function; NULL if there is none
  depth      INTEGER NOT NULL,    -- how many visible nodes are above
  function_id INTEGER NOT NULL,   -- the function
  file       TEXT,                -- file of the line where it is not the function's own
  line       INTEGER,             -- line number; NULL in function nodes
  col        INTEGER,             -- column or clause of the line; NULL if unknown
  calls      INTEGER,             -- how often called; NULL if unknown
  kept       INTEGER NOT NULL,    -- 1 if its own cost is kept, all or in part
  cut        INTEGER NOT NULL,    -- 1 if its own cost is not all kept
  exclusive  REAL NOT NULL,       -- own cost that is kept
  cumulative REAL,                -- kept cost with everything called; NULL if unknown
  kept_before INTEGER NOT NULL,   -- kept nodes up to and with this one
  cut_before INTEGER NOT NULL,    -- nodes up to and with this one whose own cost is not all kept
  cost_before REAL NOT NULL       -- own cost of the kept function nodes up to and with this one
);
CREATE TEMP TABLE IF NOT EXISTS hidden (
  -- Nodes that a filter hides.
  node_id   INTEGER PRIMARY KEY, -- number of the node
  parent_id INTEGER,             -- the nearest node above that is not hidden; NULL if there is none
  line      INTEGER,             -- line number; NULL in function nodes
  kept      INTEGER NOT NULL     -- 1 if its own cost is kept
);
CREATE TEMP TABLE IF NOT EXISTS ancestor_walk (
  -- Walks from nodes towards the root, for reports that show callers of callers.
  level    INTEGER NOT NULL, -- how many function nodes the walk has passed
  node_id  INTEGER NOT NULL, -- where the walk began
  at_id    INTEGER NOT NULL, -- the function node that is reached
  chain_id INTEGER NOT NULL, -- the chain of functions up to here: the first node that began with the same one
  up_id    INTEGER,          -- the chain at the level before
  calls    INTEGER,          -- calls of the node where the walk began; NULL if unknown
  cost     REAL NOT NULL,    -- its cost
  PRIMARY KEY (level, node_id)
) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS chains (
  -- Chains of functions from callee to caller, with what all nodes that have them cost.
  level       INTEGER NOT NULL, -- how many functions the chain has above its first
  chain_id    INTEGER NOT NULL, -- number of the chain at its level
  function_id INTEGER NOT NULL, -- the function at its end
  calls       INTEGER,          -- calls of the function where it began; NULL if unknown
  cost        REAL NOT NULL,    -- cost of the function where it began
  place       TEXT NOT NULL,    -- ranks of the chain and of those it continues: the order of the report
  PRIMARY KEY (level, chain_id),
  -- The report reads it in this order, so that no name is sorted.
  UNIQUE (place)
) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS paths (
  -- Nodes with the path from the root to them, as far as it has been followed.
  node_id    INTEGER PRIMARY KEY, -- the node
  at_id      INTEGER NOT NULL,    -- the topmost node of the path so far
  frames     INTEGER NOT NULL,    -- functions on the path
  path       TEXT NOT NULL,       -- their names
  calls      INTEGER,             -- calls of the node; NULL if unknown
  exclusive  REAL NOT NULL,       -- own cost of the node
  cumulative REAL                 -- its cost with everything called
);
