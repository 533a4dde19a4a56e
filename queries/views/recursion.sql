CREATE VIEW recursion (
  -- Recursion depth of functions, one row per run and function; runs without paths have none. Select run_id.
  run_id,       -- number of the run
  run,          -- its title, or the name of its file
  function,     -- name of the function
  module,       -- its module, package, program or library; '' if unknown
  file,         -- its source file; '' if unknown
  levels,       -- maximum number of active calls of the function on one path: 1 without recursion
  places,       -- number of its nodes in the tree
  nested,       -- number of these below another node of the function
  function_id,  -- its number in table functions
  first_line    -- line where the definition of the function starts; NULL if unknown
) AS
SELECT
  r.run_id,
  COALESCE(r.title, r.source_name),
  f.name,
  f.module,
  f.file,
  -- Nodes in pre-order as pairs of an opening and a closing bracket.
  (
    SELECT MAX(height.calls)
    FROM (
      SELECT SUM(bracket.step) OVER (ORDER BY bracket.at, bracket.step DESC ROWS UNBOUNDED PRECEDING) AS calls
      FROM (
        SELECT i.node_id AS at, 1 AS step
        FROM function_nodes AS i
        WHERE i.run_id = r.run_id AND i.function_id = f.function_id
        UNION ALL
        SELECT n.last_id, -1
        FROM function_nodes AS i
        JOIN nodes AS n ON n.node_id = i.node_id
        WHERE i.run_id = r.run_id AND i.function_id = f.function_id
      ) AS bracket
    ) AS height
  ),
  (SELECT COUNT(*) FROM function_nodes AS i WHERE i.run_id = r.run_id AND i.function_id = f.function_id),
  (
    SELECT COUNT(n.outer_up)
    FROM function_nodes AS i
    JOIN nodes AS n ON n.node_id = i.node_id
    WHERE i.run_id = r.run_id AND i.function_id = f.function_id
  ),
  f.function_id,
  NULLIF(f.first_line, 0)
FROM runs AS r
JOIN function_info AS t ON t.metric_id = r.default_metric_id
JOIN functions AS f ON f.function_id = t.function_id
WHERE r.fidelity = 'tree' AND f.kind IN ('function', 'pseudo');
