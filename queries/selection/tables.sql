-- What a path selects, one row per step and node. The rows of the last step are the answer.
CREATE TEMP TABLE IF NOT EXISTS selection (
  step      INTEGER NOT NULL, -- number of the step, from 1
  node_id   INTEGER NOT NULL, -- a node that the path up to here reaches
  last_id   INTEGER NOT NULL, -- the last node below it
  outermost INTEGER NOT NULL, -- 1 if no other node of the step encloses it: these subtrees are disjoint
  PRIMARY KEY (step, node_id)
) WITHOUT ROWID;
-- The functions that the names of a path mean.
CREATE TEMP TABLE IF NOT EXISTS picked (
  step        INTEGER NOT NULL, -- number of the step, from 1
  function_id INTEGER NOT NULL, -- a function that its name means
  PRIMARY KEY (step, function_id)
) WITHOUT ROWID;
DELETE FROM temp.selection;
DELETE FROM temp.picked;
