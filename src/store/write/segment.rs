//! Segment: an unlinked temporary database for one run or several, in the folder of the database
//! that they go into, with empty tables of the same schema. When the runs are whole, the trees of the
//! segment are appended to those of the database ([`crate::sqlite::append`]).

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rusqlite::Connection;

use super::database_pages::{append_trees, database_pages};
use super::ids::Ids;
use super::pages::{Deferred, RunEnd, RunPages};
use super::roots::{OF_RUNS, root};
use super::rows::SqlRows;
use crate::profile::Batch;
use crate::store::database::Database;
use crate::store::error::{Cause, StoreError};
use crate::store::file::empty::{PAGE_SIZE, empty_database};
use crate::store::file::growing::Growing;

/// The file of a segment.
pub(super) struct SegmentFile {
    pub(super) connection: Connection,
    file: File,
}

/// The segment of one run.
pub(super) struct Segment {
    file: SegmentFile,
    /// Writes the rows; `None` as soon as SQL does.
    pages: Option<RunPages>,
}

impl SegmentFile {
    /// Makes a segment, if its trees can be appended to those of the database later: its schema is
    /// up to date and has no more indexes or triggers than ours, and its pages can be written. A
    /// transaction is open there.
    pub(super) fn new(database: &Connection) -> Result<Option<Self>, Cause> {
        // SQLite says where the file itself is, whatever links lead there.
        let place = database
            .path()
            .filter(|path| !path.is_empty())
            .map(Path::new);
        let (true, Some(place)) = (cfg!(unix), place) else {
            return Ok(None);
        };
        if !runs_come_last(database)? || database_pages(database, PAGE_SIZE)?.is_none() {
            return Ok(None);
        }
        let Ok(growing) = Growing::beside(place, &[]) else {
            return Ok(None);
        };
        let mut file = growing.file()?;
        file.write_all(empty_database()?)?;
        let connection = growing.open()?;
        // From here on, the file ends with the program.
        growing.remove_own();
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        if schema(&connection)? != schema(database)? {
            return Ok(None);
        }
        Ok(Some(Self { connection, file }))
    }

    /// The file for another owner.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Appends the trees to those of `database`. Afterwards, its connection is good for COMMIT or
    /// ROLLBACK only.
    fn append_to(&self, database: &Connection) -> Result<(), Cause> {
        let roots = OF_RUNS
            .iter()
            .map(|name| Ok((root(database, name)?, root(&self.connection, name)?)));
        let roots: Vec<_> = roots.collect::<rusqlite::Result<_>>()?;
        // They were accessible before, and no one else can change that in this transaction.
        let pages = database_pages(database, PAGE_SIZE)?.expect("pages are accessible, as before");
        append_trees(database, pages, &self.file, &roots)
    }
}

impl Database {
    /// Appends the trees of a segment: the last thing in a transaction, before COMMIT, because
    /// SQLite's own copy of the pages does not follow (docs/design/0008-later-runs.md). After COMMIT,
    /// [`Database::forget_pages`] is due.
    pub(super) fn append(&self, segment: &SegmentFile) -> Result<(), StoreError> {
        // This comes before the flush, which writes to the file: after it, a copy over the file
        // would look like a change of our own.
        self.is_untouched()?;
        // Waits until no one else reads. From here on, SQLite has room for all pages.
        self.wait(|| self.connection.cache_flush())?;
        let appended = segment.append_to(&self.connection);
        appended.map_err(|cause| self.failed(cause))
    }
}

impl Segment {
    /// A segment for one run, as [`SegmentFile::new`] makes it.
    pub(super) fn new(database: &Connection) -> Result<Option<Self>, Cause> {
        let Some(file) = SegmentFile::new(database)? else {
            return Ok(None);
        };
        let pages = Some(RunPages::of_segment(&file.connection, file.file()?)?);
        Ok(Some(Self { file, pages }))
    }

    /// Writes the nodes and costs of a batch.
    pub(super) fn batch(&mut self, batch: &mut Batch, ids: &Ids) -> Result<(), Cause> {
        match &mut self.pages {
            Some(pages) => Ok(pages.rows(batch, ids)?),
            None => Ok(self.by_sql(ids).batch(batch)?),
        }
    }

    /// Whether SQL may as well write the other rows.
    pub(super) fn has_too_many_deferred(&self) -> bool {
        self.pages
            .as_ref()
            .is_some_and(RunPages::has_too_many_deferred)
    }

    /// Completes the pages, at the end with what is known then, and goes on by SQL. `false` if it
    /// has done so before.
    pub(super) fn finish_pages(
        &mut self,
        end: Option<&RunEnd<'_>>,
        ids: &Ids,
    ) -> Result<bool, Cause> {
        let Some(pages) = self.pages.take() else {
            return Ok(false);
        };
        let Deferred { nodes, costs } = pages.finish(end, ids)?;
        self.file.connection.execute_batch("BEGIN")?;
        self.by_sql(ids).nodes(&nodes)?;
        self.by_sql(ids).costs(&costs)?;
        Ok(true)
    }

    fn by_sql<'w>(&'w self, ids: &'w Ids) -> SqlRows<'w> {
        SqlRows {
            connection: &self.file.connection,
            ids,
        }
    }

    /// Completes the file, whose trees can then be [appended](Database::append).
    pub(super) fn whole(self) -> rusqlite::Result<SegmentFile> {
        self.file.connection.execute_batch("COMMIT")?;
        Ok(self.file)
    }
}

/// Whether the rows of the next run come after all others in all tables: only rows that belong to
/// no run could come after them.
fn runs_come_last(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT
                 COALESCE((SELECT MAX(run_id) FROM function_nodes), 0)
                   <= COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0)
                 AND MAX(
                   COALESCE((SELECT MAX(metric_id) FROM node_costs), 0),
                   COALESCE((SELECT MAX(metric_id) FROM function_info), 0),
                   COALESCE((SELECT MAX(metric_id) FROM line_info), 0),
                   COALESCE((SELECT MAX(metric_id) FROM node_labels), 0),
                   COALESCE((SELECT MAX(metric_id) FROM edges), 0)
                 ) <= COALESCE((SELECT MAX(metric_id) FROM metrics), 0)";
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))
}

/// The large tables with their indexes and triggers: type, name, text.
fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let sql = "SELECT type, name, sql
               FROM sqlite_schema
               WHERE tbl_name IN
                 ('nodes', 'node_costs', 'function_nodes', 'function_info', 'line_info', 'node_labels', 'edges')
               ORDER BY type, name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}
