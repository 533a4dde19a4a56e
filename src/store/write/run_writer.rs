//! Writing a run: one transaction, rows in the order of their keys, and nothing held in memory that
//! could be written.

use std::mem::replace;

use super::facts::{RunFacts, store_fingerprint};
use super::ids::{FIRST_RUN, Ids, StoredRun};
use super::outcome::Outcome;
use super::pages::{RunEnd, RunPages};
use super::postings::Postings;
use super::rows::{SqlRows, function};
use super::segment::{Segment, SegmentFile};
use crate::identity::Rules;
use crate::profile::{Batch, RunSummary};
use crate::store::database::Database;
use crate::store::error::{Cause, StoreError};
use crate::store::identities;
use crate::store::identity::RunMeta;
use crate::store::schema::migrate;
use crate::store::sources;

/// Nodes in the first batch of a run that is worth a segment, with those that are still open: in a
/// deep tree these are nearly all. A shorter run is there sooner by SQL.
pub(in crate::store) const ROWS_FOR_SEGMENT: u64 = 2000;

/// Writes one run. Dropped before [`RunWriter::finish`], it leaves the database as it was.
pub struct RunWriter<'d> {
    database: &'d mut Database,
    destination: Destination,
    /// Whether there has been a batch.
    has_rows: bool,
    /// By which functions get their identities.
    rules: Rules,
    ids: Ids,
    postings: Postings,
}

/// Where nodes and costs go. Functions and facts of the run always go into the database.
enum Destination {
    /// Into a new or a temporary database, as pages (docs/design/0005-pages.md). There is no
    /// transaction yet.
    NewFile(Box<RunPages>),
    /// Into a segment, whose trees are appended to those of the database when the run is whole
    /// (docs/design/0008-later-runs.md).
    Segment(Box<Segment>),
    /// The segment has all rows.
    WholeSegment(SegmentFile),
    /// Into the database, by SQL.
    Database,
}

impl Database {
    /// Starts to write a run: waits for the lock, brings the schema up to date. A new file gets its
    /// rows as pages.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_run(&mut self) -> Result<RunWriter<'_>, StoreError> {
        let place = self.place();
        let pages = self
            .claim
            .as_ref()
            .map(|claim| RunPages::of_new_file(&self.connection, claim.file()?, place.clone()))
            .transpose()
            .map_err(|cause: Cause| self.failed(cause))?;
        let mut writer = RunWriter {
            database: self,
            destination: pages.map_or(Destination::Database, |pages| {
                Destination::NewFile(Box::new(pages))
            }),
            has_rows: false,
            rules: Rules::built_in(),
            ids: Ids::default(),
            postings: Postings::beside(place),
        };
        if matches!(writer.destination, Destination::Database) {
            writer.begin_sql()?;
            let rules = identities::rules(&writer.database.connection);
            writer.rules = rules.map_err(|cause| writer.database.failed(cause))?;
            // The lock is held by now: another program may have stored a run since the database was
            // opened.
            let ids = Ids::after(&writer.database.connection);
            writer.ids = ids.map_err(|source| writer.database.failed(source))?;
        }
        Ok(writer)
    }
}

impl RunWriter<'_> {
    /// Writes rows.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn batch(&mut self, batch: &mut Batch) -> Result<(), StoreError> {
        let is_first = !replace(&mut self.has_rows, true);
        if is_first
            && matches!(self.destination, Destination::Database)
            && batch.opened >= ROWS_FOR_SEGMENT
        {
            self.choose_pages()?;
        }
        self.rows(batch)
            .map_err(|cause| self.database.failed(cause))
    }

    fn rows(&mut self, batch: &mut Batch) -> Result<(), Cause> {
        let connection = &self.database.connection;
        if let Destination::NewFile(pages) = &mut self.destination {
            pages.functions(&mut batch.functions, &self.rules, &mut self.ids)?;
            self.postings.learn(&batch.nodes, &self.ids)?;
            return Ok(pages.rows(batch, &self.ids)?);
        }
        for (id, about) in batch.functions.drain(..) {
            let (stored, identity) = function(connection, &self.rules, &about)?;
            self.ids.learn(id, stored, identity);
        }
        // This comes before the rows are written, which takes them out of the batch.
        self.postings.learn(&batch.nodes, &self.ids)?;
        if let Destination::Segment(segment) = &mut self.destination {
            return segment.batch(batch, &self.ids);
        }
        let rows = batch.nodes.len() + batch.costs.len();
        self.database.count_inserted(rows as u64);
        Ok(self.by_sql().batch(batch)?)
    }

    /// Has rows written as pages from now on, where that can be done.
    fn choose_pages(&mut self) -> Result<(), StoreError> {
        if let Some(place) = self.database.place() {
            let segment = Segment::new(&self.database.connection, place);
            if let Some(segment) = segment.map_err(|cause| self.database.failed(cause))? {
                self.destination = Destination::Segment(Box::new(segment));
            }
            return Ok(());
        }
        // Nothing has been written in memory, and nothing of the file is to be undone.
        self.database.end();
        let Some(file) = self.database.leave_memory()? else {
            return self.database.begin();
        };
        let place = self.database.place();
        self.postings = Postings::beside(place.clone());
        let connection = &self.database.connection;
        let pages = RunPages::of_temporary_file(connection, file, place);
        let pages = pages.map_err(|cause| self.database.failed(cause))?;
        self.destination = Destination::NewFile(Box::new(pages));
        Ok(())
    }

    /// Writes what is known at the end, and makes the run visible. A run that is there already is
    /// not stored again, unless that is asked for.
    ///
    /// # Errors
    /// When the database cannot be written: then nothing has changed.
    pub fn finish(mut self, totals: &RunSummary, meta: &RunMeta) -> Result<Outcome, StoreError> {
        let is_new = matches!(self.destination, Destination::NewFile(_));
        if is_new {
            self.leave_new_file(totals)?;
        }
        let outcome = self.facts(totals, meta);
        let outcome = outcome.map_err(|source| self.database.failed(source))?;
        let Outcome::Stored(run) = outcome else {
            // Nothing is committed, and the run has to be in the file that has the name now.
            self.database.is_in_place()?;
            return Ok(outcome);
        };
        let marked = store_fingerprint(&self.database.connection, run, totals, &self.ids);
        marked.map_err(|source| self.database.failed(source))?;
        if !is_new {
            let written = self.totals(StoredRun(run), totals, meta);
            written.map_err(|cause| self.database.failed(cause))?;
        }
        // This comes after the totals, because the lines that are looked for are read from them.
        if let Some(folder) = &meta.source {
            let stored = sources::store(
                &self.database.connection,
                run,
                folder.as_ref(),
                meta.source_lines,
            );
            stored.map_err(|source| self.database.failed(source))??;
        }
        let has_appended = self.append_segment()?;
        self.database.commit()?;
        if has_appended {
            self.database.forget_pages()?;
        }
        // Of programs that make the same new database at once, one gets the name; the others put
        // their run into that database, as `merge` would.
        match self.database.publish() {
            Err(error) if error.is_there_by_now() => self.database.add_to_what_is_there(meta),
            published => published.map(|()| outcome),
        }
    }

    /// Completes the pages of a new file, and goes on by SQL.
    fn leave_new_file(&mut self, totals: &RunSummary) -> Result<(), StoreError> {
        let Destination::NewFile(pages) = replace(&mut self.destination, Destination::Database)
        else {
            return Ok(());
        };
        let end = RunEnd {
            run: FIRST_RUN,
            postings: self.take_postings(),
            totals: Some(totals),
        };
        let finished = pages.finish(end, &self.ids);
        finished.map_err(|source| self.database.failed(source))?;
        self.begin_sql()
    }

    fn take_postings(&mut self) -> Postings {
        replace(&mut self.postings, Postings::beside(None))
    }

    /// Stores what is known of the run besides its rows, if it is not there already.
    fn facts(&self, totals: &RunSummary, meta: &RunMeta) -> rusqlite::Result<Outcome> {
        RunFacts {
            connection: &self.database.connection,
            ids: &self.ids,
            totals,
            meta,
        }
        .store()
    }

    /// Writes the totals of a run that is not the first of a new file.
    fn totals(&mut self, run: StoredRun, totals: &RunSummary, meta: &RunMeta) -> Result<(), Cause> {
        // Source is looked for by SQL, for the lines in the database; it does not see a segment.
        let has_source = meta.source.is_some();
        let postings = self.take_postings();
        match replace(&mut self.destination, Destination::Database) {
            Destination::Segment(segment) => {
                let end = RunEnd {
                    run,
                    postings,
                    totals: (!has_source).then_some(totals),
                };
                let whole = segment.finish(end, &self.ids)?;
                self.destination = Destination::WholeSegment(whole);
                if !has_source {
                    return Ok(());
                }
            }
            _ => self.by_sql().function_nodes(run, postings)?,
        }
        let rows = self.by_sql();
        rows.function_info(&totals.functions)?;
        rows.line_info(&totals.lines)?;
        rows.label_costs(&totals.label_costs)?;
        Ok(rows.edges(&totals.edges)?)
    }

    /// Appends the segment to the database, if there is one.
    fn append_segment(&mut self) -> Result<bool, StoreError> {
        let Destination::WholeSegment(segment) =
            replace(&mut self.destination, Destination::Database)
        else {
            return Ok(false);
        };
        let database = &self.database;
        database.append(&segment)?;
        Ok(true)
    }

    /// Starts the transaction.
    fn begin_sql(&mut self) -> Result<(), StoreError> {
        self.database.begin()?;
        let begun = migrate(&self.database.connection);
        begun.map_err(|cause| self.database.failed(cause))
    }

    fn by_sql(&self) -> SqlRows<'_> {
        SqlRows {
            connection: &self.database.connection,
            ids: &self.ids,
        }
    }
}

impl Drop for RunWriter<'_> {
    fn drop(&mut self) {
        self.database.end();
    }
}
