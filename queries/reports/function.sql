-- A function line by line: cost, callees, and stored source.
--
-- :all_lines FLAG         include lines that never ran, if their source is known
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH                the function: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- about: function
--> element        NAME is=element text                        function and line
--> function       TEXT is=element csv xml json                the function
--> line           LINE is=line csv xml json                   the line
--> col            LINE json                                   its column or clause; NULL if unknown
--> calls          COUNT is=calls text csv xml optional json   number of executions; NULL if unknown or 0
--> exclusive      COST is=exclusive text csv xml json         exclusive cost; NULL if it has no figures
--> cumulative     COST is=cumulative text csv xml json        inclusive cost, recursion counted once; NULL if unknown
--> cumulative_pct PERCENT is=percent text csv xml optional json  cumulative, % of the run's total
--> callees        TEXT is=callees text csv xml optional json  its callees, the most expensive first; NULL if unknown
--> callee_ids     TEXT                                       numbers of its callees, in the order of the column callees
--> code           TEXT is=code text csv xml optional json     its source; NULL if unknown
--> module         TEXT json                                   module, package, program or library
--> file           TEXT is=file csv json optional              source file of the line
--> first_line     LINE is=first_line csv json optional        line where the definition of the function starts; NULL if unknown
--> exclusive_pct  PERCENT json                                cost of the line itself, % of the run's total
--> function_id    LINE is=function_id csv json optional       number of the function
SELECT f.name || '[' || IIF(r.file = f.file, '', r.file || ':') || r.line || IIF(r.col = 0, '', ':' || r.col) || ']' AS element, f.name AS function, r.line AS line,
  NULLIF(r.col, 0) AS col, r.calls AS calls, r.exclusive AS exclusive, r.cumulative AS cumulative, 100 * r.cumulative / $total AS cumulative_pct,
  (SELECT GROUP_CONCAT(c.value ->> 1, ', ') FROM (SELECT value FROM JSON_EACH(r.called) ORDER BY key) AS c) AS callees,
  (SELECT GROUP_CONCAT(c.value ->> 0, ' ') FROM (SELECT value FROM JSON_EACH(r.called) ORDER BY key) AS c) AS callee_ids,
  $code AS code, f.module AS module, r.file AS file, NULLIF(f.first_line, 0) AS first_line, 100 * r.exclusive / $total AS exclusive_pct, r.id AS function_id
-- DISTINCT removes no row; it makes SQLite expect many rows and find callees by an index. The unary plus takes the type from
-- l.line, which the other side does not have, so that lines are found by an index, too.
FROM (SELECT DISTINCT l.id, l.file, l.line, l.col, l.calls, l.exclusive, l.cumulative,
    (SELECT JSON_GROUP_ARRAY(JSON_ARRAY(c.id, c.name)) FROM (SELECT g.function_id AS id, g.name FROM line_calls AS c CROSS JOIN functions AS g WHERE c.id = l.id AND c.file = l.file
       AND c.line = +l.line AND l.col IN (0, c.col) AND g.function_id = c.callee_id ORDER BY c.cumulative DESC, g.name, g.function_id) AS c) AS called
  FROM (SELECT DISTINCT id, file, line, col, calls, exclusive, cumulative FROM $shown_lines) AS l
) AS r CROSS JOIN functions AS f WHERE f.function_id = r.id ORDER BY f.name, f.module, r.id, r.file, r.line, r.col;
