-- Unprocessed costs of every function and its lines, by name.
--
-- Times are as measured: the timer bias is added back, if it is known.
--
-- :first COUNT ?          print only the first N rows
-- :code FLAG              add a column with the source of each line
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
--
-- times: raw
--> element          NAME is=element text                       function, or function and line
--> function         TEXT is=element csv xml json               the function
--> line             LINE is=line csv xml json                  the line; NULL for whole functions
--> col              LINE json                                  its column or clause; NULL if unknown
--> calls            COUNT is=calls text csv xml optional json  number of calls or executions; NULL if unknown
--> exclusive        RAW is=exclusive text csv xml json         exclusive cost
--> cumulative       RAW is=cumulative text csv xml json        inclusive cost, recursion counted once
--> exclusive_ticks  COUNT is=exclusive_readings text csv xml optional json  timer readings for the exclusive time
--> cumulative_ticks COUNT is=cumulative_readings text csv xml optional json  timer readings for the inclusive time
--> code             TEXT is=code text csv xml json when=code   source of the line; NULL if unknown
--> module           TEXT json                                  module, package, program or library
--> file             TEXT is=file csv json optional             source file
--> first_line       LINE is=first_line csv json optional       line where the definition of the function starts; NULL if unknown
--> line_file        TEXT                                       source file of the line where it is not that of its function
--> function_id      LINE is=function_id csv json optional      number of the function
SELECT f.name || COALESCE('[' || IIF(i.line_file = '', '', i.line_file || ':') || i.line || COALESCE(':' || NULLIF(i.col, 0), '') || ']', '') AS element, f.name AS function,
  i.line AS line, NULLIF(i.col, 0) AS col, i.calls AS calls, i.exclusive$data_exclusive AS exclusive, i.cumulative$data_cumulative AS cumulative,
  i.exclusive_readings AS exclusive_ticks, i.cumulative_readings AS cumulative_ticks, $data_code AS code, f.module AS module, IIF(i.line_file = '', f.file, i.line_file) AS file,
  NULLIF(f.first_line, 0) AS first_line, NULLIF(i.line_file, '') AS line_file, i.function_id AS function_id
FROM element_costs AS i CROSS JOIN functions AS f USING (function_id) WHERE f.kind IN ('function', 'pseudo')
ORDER BY f.name, f.module, f.file, i.function_id, i.line, i.col, i.line_file$first;
