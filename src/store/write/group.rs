//! Writing several short runs in one transaction: each is in memory as a whole, so all that can be
//! wrong with its file is known before anything is written.
//!
//! One commit, one segment and one look at the schema serve all of them, where each would take
//! longer than the rows of one run.

use super::facts::{RunFacts, store_fingerprint};
use super::group_pages::GroupPages;
use super::ids::{Ids, StoredRun};
use super::outcome::Outcome;
use super::postings::Postings;
use super::rows::SqlRows;
use super::run_writer::ROWS_FOR_SEGMENT;
use super::segment::SegmentFile;
use crate::identity::Rules;
use crate::profile::{Batch, RunSummary};
use crate::source::Stopped;
use crate::store::database::Database;
use crate::store::error::{Cause, StoreError};
use crate::store::identities;
use crate::store::identity::RunMeta;
use crate::store::schema::migrate;
use crate::store::sources;

/// A run that is in memory as a whole.
#[derive(Debug)]
pub struct WholeRun {
    /// All its rows; nodes ascend, costs ascend by metric and node.
    pub rows: Batch,
    /// What is known at its end.
    pub totals: RunSummary,
    /// What is known of it besides.
    pub meta: RunMeta,
}

impl Database {
    /// Stores runs, numbered in their order, in one transaction: all of them or none. Only the first
    /// run of a new file has a transaction of its own. A run that is there already, or comes a
    /// second time, is not stored again, unless that is asked for.
    ///
    /// # Errors
    /// When the database cannot be written: then nothing has changed, but for the first run of a new
    /// file, which may be there.
    pub fn add_runs(&mut self, runs: Vec<WholeRun>) -> Result<Vec<Outcome>, StoreError> {
        let mut outcomes = Vec::with_capacity(runs.len());
        let mut runs = runs.into_iter();
        if self.claim.is_some()
            && let Some(mut first) = runs.next()
        {
            // As pages of the new file itself (docs/design/0005-pages.md).
            let mut writer = self.begin_run()?;
            writer.batch(&mut first.rows)?;
            outcomes.push(writer.finish(&first.totals, &first.meta)?);
        }
        let others: Vec<WholeRun> = runs.collect();
        if !others.is_empty() {
            self.begin()?;
            let added = self.add_in_transaction(others);
            self.end();
            outcomes.extend(added.inspect_err(|_| self.known_functions.forget())?);
        }
        Ok(outcomes)
    }

    fn add_in_transaction(&mut self, runs: Vec<WholeRun>) -> Result<Vec<Outcome>, StoreError> {
        let begun = self.begin_group(&runs);
        let (rules, mut ids, mut pages) = begun.map_err(|cause| self.failed(cause))?;
        let mut outcomes = Vec::with_capacity(runs.len());
        for run in runs {
            if self.lock_wait.stop.is_set() {
                return Err(Stopped.into());
            }
            let added = self.add_run(&run, &rules, &mut ids, pages.as_mut());
            let outcome = added.map_err(|cause| self.failed(cause))?;
            if let (Outcome::Stored(id), Some(folder)) = (outcome, &run.meta.source) {
                let stored =
                    sources::store(&self.connection, id, folder.as_ref(), run.meta.source_lines);
                stored.map_err(|source| self.failed(source))??;
            }
            outcomes.push(outcome);
        }
        if !outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Stored(_)))
        {
            // Nothing is committed, and the runs have to be in the file that has the name now.
            self.is_in_place()?;
            return Ok(outcomes);
        }
        let has_appended = pages.is_some();
        if let Some(pages) = pages {
            let segment = pages.finish().map_err(|source| self.failed(source))?;
            self.append(&segment)?;
        }
        self.commit()?;
        if has_appended {
            self.forget_pages()?;
        }
        Ok(outcomes)
    }

    /// The rules in force, the first ids that are free, and pages if the runs are worth a segment.
    fn begin_group(
        &mut self,
        runs: &[WholeRun],
    ) -> Result<(Rules, Ids, Option<GroupPages>), Cause> {
        let connection = &self.connection;
        migrate(connection)?;
        self.known_functions.check(connection)?;
        let rules = identities::rules(connection)?;
        let ids = Ids::after(connection)?;
        let rows = |run: &WholeRun| {
            let WholeRun { rows, totals, .. } = run;
            rows.nodes.len() + totals.functions.each() + totals.edges.each()
        };
        let rows: usize = runs.iter().map(rows).sum();
        // Source is looked for by SQL, for the lines in the database; it does not see a segment.
        let has_source = runs.iter().any(|run| run.meta.source.is_some());
        if (rows as u64) < ROWS_FOR_SEGMENT || has_source {
            return Ok((rules, ids, None));
        }
        let Some(place) = self.place() else {
            return Ok((rules, ids, None));
        };
        let segment = SegmentFile::new(connection, &place)?;
        Ok((rules, ids, segment.map(GroupPages::new).transpose()?))
    }

    fn add_run(
        &mut self,
        run: &WholeRun,
        rules: &Rules,
        ids: &mut Ids,
        pages: Option<&mut GroupPages>,
    ) -> Result<Outcome, Cause> {
        let connection = &self.connection;
        let WholeRun { rows, totals, meta } = run;
        let facts = RunFacts {
            connection,
            ids,
            totals,
            meta,
        };
        let outcome = facts.store()?;
        let Outcome::Stored(id) = outcome else {
            return Ok(outcome);
        };
        ids.forget_functions();
        for (function, about) in &rows.functions {
            let (known, identity) = self.known_functions.id(connection, rules, about)?;
            ids.learn(*function, known, identity);
        }
        store_fingerprint(connection, id, totals, ids)?;
        if let Some(pages) = pages {
            pages.run(StoredRun(id), rows, totals, ids)?;
        } else {
            let by_sql = SqlRows { connection, ids };
            insert(&by_sql, StoredRun(id), rows, totals)?;
            self.count_inserted((rows.nodes.len() + rows.costs.len()) as u64);
        }
        ids.next_run(totals.nodes, totals.metrics.len());
        Ok(outcome)
    }
}

/// Inserts all rows of a run by SQL.
fn insert(
    by_sql: &SqlRows<'_>,
    run: StoredRun,
    rows: &Batch,
    totals: &RunSummary,
) -> Result<(), Cause> {
    by_sql.batch(rows)?;
    let mut postings = Postings::beside(None);
    postings.learn(&rows.nodes, by_sql.ids)?;
    by_sql.function_nodes(run, postings)?;
    by_sql.function_info(&totals.functions)?;
    by_sql.line_info(&totals.lines)?;
    by_sql.label_costs(&totals.label_costs)?;
    Ok(by_sql.edges(&totals.edges)?)
}
