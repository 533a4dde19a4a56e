-- The call tree with its lines, in the order of the file.
--
-- :depth COUNT ?          only nodes with at most N ancestors, lines included
-- :min_pct PERCENTAGE ?   only nodes with an inclusive cost of N % or more. The percentage is of the total, or of the selection with --percent-of selection
-- :first COUNT ?          print only the first N rows
-- :code FLAG              add a column with the source of each line
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
--
-- needs: tree
-- rows: many
--> depth            LINE is=depth csv xml json                 number of ancestors within the selection
--> element          NODE is=element text                       function, or function and line
--> function         TEXT is=element csv xml json               the function
--> line             LINE is=line csv xml json                  the line; NULL for whole functions
--> col              LINE json                                  its column or clause; NULL if unknown
--> calls            COUNT is=calls text csv xml optional json  number of calls on this path; NULL if unknown
--> exclusive        RAW is=exclusive text csv xml json         exclusive cost
--> cumulative       RAW is=cumulative text csv xml json        inclusive cost
--> exclusive_ticks  COUNT is=exclusive_readings csv xml optional json  timer readings for the exclusive time; NULL if unknown
--> cumulative_ticks COUNT is=cumulative_readings csv xml optional json  timer readings for the inclusive time; NULL if unknown
--> code             TEXT is=code text csv xml json when=code   source of the line; NULL if unknown
--> module           TEXT json                                  module, package, program or library
--> file             TEXT is=file csv json optional             source file
--> first_line       LINE is=first_line csv json optional       line where the definition of the function starts; NULL if unknown
--> node_id          LINE json                                  number of the node
--> parent_id        LINE json                                  the parent node; NULL at a root
--> line_file        TEXT                                       source file of the line where it is not that of its function
--> function_id      LINE is=function_id csv json optional      number of the function
SELECT
  $tree_depth AS depth, f.name || COALESCE('[' || COALESCE(n.file || ':', '') || n.line || COALESCE(':' || n.col, '') || ']', '') AS element,
  f.name AS function, n.line AS line, n.col AS col, n.calls AS calls, $place_own AS exclusive,
  $place_all AS cumulative, $tree_readings,
  $tree_code AS code, f.module AS module, COALESCE(n.file, f.file) AS file, NULLIF(f.first_line, 0) AS first_line, n.node_id AS node_id, n.parent_id AS parent_id,
  n.file AS line_file, n.function_id AS function_id
FROM $places CROSS JOIN functions AS f
WHERE $in_places AND f.function_id = n.function_id$depth_limit$min_pct_tree
ORDER BY n.node_id$first;
