-- Labels of samples, with what the samples cost that have them.
--
-- A sample may have several labels, and several of one key: rows do not add up to the total.
-- :first COUNT ?          only the first rows
-- :thread THREAD ?        only what happened in this thread: its name, PROCESS/THREAD, or the end of it that no other has
-- :fn PATH ?              only what the function calls; A,B: B within A; A>B: B called by A; * and ? fit any text
-- :label LABEL ?          only samples with this label, KEY=VALUE or just KEY; several times: with all of them
-- :focus FILTER ?         only what happened below functions whose name, module or file fits
-- :ignore FILTER ?        without what happened below functions whose name, module or file fits
-- :hide FILTER ?          without such functions, whose cost goes to their callers
-- needs: labels
--
--> key       TEXT is=key text csv xml json            what is said of samples
--> value     TEXT is=value text csv xml json          what is said of them
--> unit      TEXT is=unit text csv xml optional json  what a number is counted in; NULL for text, and if unknown
--> exclusive COST is=exclusive text csv xml json      cost of the samples that have the label
--> pct       PERCENT is=percent text csv xml json     the same, % of the run's total
SELECT k.key AS key, CAST(k.value AS TEXT) AS value, NULLIF(k.unit, '') AS unit, SUM(c.exclusive) AS exclusive,
  100 * SUM(c.exclusive) / $total AS pct
FROM selected_labels AS c CROSS JOIN label_sets AS k
WHERE k.run_id = :run AND k.set_id = c.set_id
GROUP BY k.key, k.value, k.unit
ORDER BY k.key, SUM(c.exclusive) DESC, CAST(k.value AS TEXT), k.unit, k.value$first;
