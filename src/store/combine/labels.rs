//! Labels of samples: costs of merged nodes by their labels.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::part::SourceFailure;
use super::tree::MergedNodeId;

/// Costs of merged nodes in samples with equal labels.
#[derive(Default)]
pub(super) struct CombinedLabels {
    /// Sets of labels by key, kind and text of the value, and unit.
    sets: Vec<Vec<(String, Value, String)>>,
    /// Places of sets by their labels as text.
    by_text: BTreeMap<String, usize>,
    /// By metric, merged node and set.
    costs: BTreeMap<(usize, MergedNodeId, usize), f64>,
}

impl CombinedLabels {
    /// Adds those of a run. `places` has the merged node of each of its nodes.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        run_id: i64,
        metrics: &[i64],
        places: &[MergedNodeId],
    ) -> Result<(), SourceFailure> {
        let mut of_run: BTreeMap<i64, Vec<(String, Value, String)>> = BTreeMap::new();
        let sql = "SELECT set_id, key, value, unit
                   FROM label_sets
                   WHERE run_id = ?1
                   ORDER BY set_id, key, value, unit";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([run_id])?;
        while let Some(row) = rows.next()? {
            let label = (row.get(1)?, row.get(2)?, row.get(3)?);
            of_run.entry(row.get(0)?).or_default().push(label);
        }
        if of_run.is_empty() {
            return Ok(());
        }
        let mut numbers = BTreeMap::new();
        for (number, set) in of_run {
            let next = self.sets.len();
            let at = *self.by_text.entry(format!("{set:?}")).or_insert(next);
            if at == next {
                self.sets.push(set);
            }
            numbers.insert(number, at);
        }
        let sql = "SELECT l.node_id - r.first_node, l.set_id, l.exclusive
                   FROM runs AS r
                   CROSS JOIN node_labels AS l ON l.metric_id = ?2
                   WHERE r.run_id = ?1
                   ORDER BY l.node_id, l.set_id";
        let mut statement = connection.prepare_cached(sql)?;
        for (metric, id) in metrics.iter().enumerate() {
            let mut rows = statement.query([run_id, *id])?;
            while let Some(row) = rows.next()? {
                let at = usize::try_from(row.get::<_, i64>(0)?).ok();
                let node = at.and_then(|at| places.get(at));
                let (Some(node), Some(set)) = (node, numbers.get(&row.get(1)?)) else {
                    return Err(rusqlite::Error::QueryReturnedNoRows.into());
                };
                let cost: f64 = row.get(2)?;
                *self.costs.entry((metric, *node, *set)).or_default() += cost;
            }
        }
        Ok(())
    }

    /// Writes them into the database of the combined run. `numbers` has the number of each merged node in its run.
    pub(super) fn write(
        &self,
        connection: &Connection,
        numbers: &[i64],
    ) -> Result<(), SourceFailure> {
        if self.sets.is_empty() {
            return Ok(());
        }
        let transaction = connection.unchecked_transaction()?;
        let (run, first): (i64, i64) =
            transaction.query_row("SELECT run_id, first_node FROM runs", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let sql =
            "INSERT INTO label_sets (run_id, set_id, key, value, unit) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = transaction.prepare_cached(sql)?;
        for (number, set) in (1_i64..).zip(&self.sets) {
            for (key, value, unit) in set {
                insert.execute(params![run, number, key, value, unit])?;
            }
        }
        let sql = "INSERT INTO node_labels (metric_id, node_id, set_id, exclusive)
                   SELECT metric_id, ?2, ?3, ?4 FROM metrics WHERE position = ?1";
        drop(insert);
        let mut insert = transaction.prepare_cached(sql)?;
        for ((metric, node, set), cost) in &self.costs {
            let node = first + numbers[node.index()] - 1;
            insert.execute(params![number(*metric), node, number(*set), cost])?;
        }
        drop(insert);
        Ok(transaction.commit()?)
    }
}

/// Returns the number of a place, from 1.
fn number(place: usize) -> i64 {
    i64::try_from(place).map_or(i64::MAX, |place| place + 1)
}
