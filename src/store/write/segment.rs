//! Segment: an unlinked temporary database for one run or several, in the folder of the database
//! that they go into, with empty tables of the same schema. When the runs are whole, the trees of the
//! segment are appended to those of the database ([`profdb_sqlite_pages::append`]).

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::database_pages::{append_trees, database_pages};
use super::ids::Ids;
use super::pages::{RunEnd, RunPages};
use super::roots::{OF_RUNS, Roots, root};
use crate::profile::Batch;
use crate::store::database::Database;
use crate::store::error::{Cause, StoreError};
use crate::store::file::empty::{PAGE_SIZE, empty_database};
use crate::store::file::growing::Growing;

/// The file of a segment.
pub(super) struct SegmentFile {
    connection: Connection,
    file: File,
}

/// The segment of one run.
pub(super) struct Segment {
    file: SegmentFile,
    pages: RunPages,
}

impl SegmentFile {
    /// Makes a file beside a database, if its trees can be appended to those of the database later:
    /// its schema is up to date and has no more indexes or triggers than ours, and its pages can be
    /// written. A transaction is open there. `place` is where the database is.
    pub(super) fn new(database: &Connection, place: &Path) -> Result<Option<Self>, Cause> {
        if !cfg!(unix)
            || !runs_come_last(database)?
            || database_pages(database, PAGE_SIZE)?.is_none()
        {
            return Ok(None);
        }
        let Ok(growing) = Growing::private(place) else {
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

    /// Its root pages.
    pub(super) fn roots(&self) -> rusqlite::Result<Roots> {
        Roots::of(&self.connection)
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
        self.flush()?;
        let appended = segment.append_to(&self.connection);
        appended.map_err(|cause| self.failed(cause))
    }
}

impl Segment {
    /// A segment for one run, as [`SegmentFile::new`] makes it. Late rows may wait in a file beside
    /// `place`, too.
    pub(super) fn new(database: &Connection, place: PathBuf) -> Result<Option<Self>, Cause> {
        let Some(file) = SegmentFile::new(database, &place)? else {
            return Ok(None);
        };
        let pages = RunPages::of_temporary_file(&file.connection, file.file()?, Some(place))?;
        Ok(Some(Self { file, pages }))
    }

    /// Writes the nodes and costs of a batch.
    pub(super) fn batch(&mut self, batch: &mut Batch, ids: &Ids) -> Result<(), Cause> {
        Ok(self.pages.rows(batch, ids)?)
    }

    /// Completes the pages with what is known at the end. The trees of the file can then be
    /// [appended](Database::append).
    pub(super) fn finish(self, end: RunEnd<'_>, ids: &Ids) -> Result<SegmentFile, Cause> {
        self.pages.finish(end, ids)?;
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

/// Whether the large tables have no index but ours, whose rows would go with them unseen. Triggers
/// were looked for when the database was opened.
pub(in crate::store) fn has_our_indexes_only(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT COUNT(*) = 0
               FROM sqlite_schema
               WHERE type = 'index'
                 AND tbl_name IN
                   ('nodes', 'node_costs', 'function_nodes', 'function_info', 'line_info', 'node_labels', 'edges')
                 AND name <> 'edges_by_caller'";
    connection.query_row(sql, [], |row| row.get(0))
}
