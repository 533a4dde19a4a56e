-- Labels of samples, with the cost of the samples that have them.
--
-- A sample can have several labels, also with the same key, so rows do not add up to the total.
-- :first COUNT ?          print only the first N rows
-- :thread THREAD ?        only this thread: NAME or PROCESS/THREAD. The end of a name is enough if it is unique
-- :fn PATH ?              only this function and its callees: NAME, A,B or A>B. `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards
-- :label LABEL ?          only samples with this label: KEY=VALUE or KEY. Repeat the flag to require several labels
-- :focus FILTER ?         only calls below functions that match. Name, module and file are compared
-- :ignore FILTER ?        drop calls below functions that match. Name, module and file are compared
-- :hide FILTER ?          remove matching functions; callers get their cost
-- needs: labels
--
--> key       TEXT is=key text csv xml json            key of the label
--> value     TEXT is=value text csv xml json          value of the label
--> unit      TEXT is=unit text csv xml optional json  unit of a number; NULL for text, and if unknown
--> exclusive COST is=exclusive text csv xml json      cost of the samples with the label
--> pct       PERCENT is=percent text csv xml json     exclusive, % of the run's total
SELECT k.key AS key, CAST(k.value AS TEXT) AS value, NULLIF(k.unit, '') AS unit, SUM(c.exclusive) AS exclusive,
  100 * SUM(c.exclusive) / $total AS pct
FROM selected_labels AS c CROSS JOIN label_sets AS k
WHERE k.run_id = :run AND k.set_id = c.set_id
GROUP BY k.key, k.value, k.unit
ORDER BY k.key, SUM(c.exclusive) DESC, CAST(k.value AS TEXT), k.unit, k.value$first;
