//! Access to the pages of an open database by SQLite's virtual table `sqlite_dbpage`. Pages pass
//! through SQLite's own pager, in the open transaction, so that locks, journal and rollback are
//! those of any other change.
//!
//! Reference: SQLite, "The `sqlite_dbpage` Virtual Table".

use std::fs::File;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Statement, ffi};

use crate::store::error::Cause;
use crate::store::file::connection;
use profdb_sqlite_pages::append::Appender;
use profdb_sqlite_pages::cut::{Range, cut};
use profdb_sqlite_pages::database::{ChangeError, DatabasePages};

/// Reads and writes pages by two prepared statements.
pub(in crate::store) struct PagesBySql<'c> {
    read: Statement<'c>,
    write: Statement<'c>,
}

impl DatabasePages for PagesBySql<'_> {
    type Error = rusqlite::Error;

    fn read(&mut self, number: u32) -> rusqlite::Result<Option<Vec<u8>>> {
        self.read.query_row([number], |row| row.get(0)).optional()
    }

    fn write(&mut self, number: u32, page: &[u8]) -> rusqlite::Result<()> {
        self.write.execute((number, page)).map(drop)
    }
}

/// Whether the SQLite of this program was built with access to pages, so that a later run is
/// written in whole pages; else it is written row by row, with the same result.
///
/// Only a build that sets the flag `SQLITE_ENABLE_DBPAGE_VTAB` has it, which a build script of ours
/// cannot do for a dependency.
#[must_use]
pub fn later_runs_by_pages() -> bool {
    // A database in memory that cannot be opened gives no pages either.
    connection::open_in_memory()
        .and_then(|connection| gives_pages(&connection))
        .unwrap_or(false)
}

fn gives_pages(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT COUNT(*) FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
    connection.query_row(sql, [], |row| Ok(row.get::<_, i64>(0)? > 0))
}

impl PagesBySql<'_> {
    /// Writes the second page as it is. The first would not be flushed: SQLite has it in use.
    pub(in crate::store) fn touch(&mut self) -> rusqlite::Result<()> {
        match self.read(2)? {
            Some(page) => self.write(2, &page),
            None => Ok(()),
        }
    }
}

/// What trees can be appended to; `None` if this SQLite gives no access to pages, or the file is of
/// another kind than ours.
pub(super) fn database_pages(
    connection: &Connection,
    page_size: u16,
) -> Result<Option<Appender<PagesBySql<'_>>>, Cause> {
    match PagesBySql::of(connection)? {
        Some(pages) => Ok(Appender::new(pages, page_size)?),
        None => Ok(None),
    }
}

impl<'c> PagesBySql<'c> {
    /// `None` if this SQLite gives no access to pages.
    pub(in crate::store) fn of(connection: &'c Connection) -> rusqlite::Result<Option<Self>> {
        if !gives_pages(connection)? {
            return Ok(None);
        }
        Ok(Some(Self {
            read: connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?,
            write: connection.prepare("INSERT INTO sqlite_dbpage (pgno, data) VALUES (?1, ?2)")?,
        }))
    }
}

/// Prepares [`end_after`], outside a transaction. `false` if this SQLite gives no access to pages.
pub(in crate::store) fn prepare_end(connection: &Connection) -> rusqlite::Result<bool> {
    if PagesBySql::of(connection)?.is_none() {
        return Ok(false);
    }
    let sql = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.database_end USING sqlite_dbpage";
    connection.execute_batch(sql)?;
    Ok(true)
}

/// Ends the database after its first `pages`, as soon as the transaction is committed, and writes the
/// first page, which is the last thing in a transaction: a statement after it would read the schema
/// anew, from pages that SQLite has in memory as they were.
pub(in crate::store) fn end_after(
    connection: &Connection,
    first: &[u8],
    pages: u32,
) -> rusqlite::Result<()> {
    // Through a table of its own, as each page that is written takes back the end that was set
    // through the same one.
    let sql = "INSERT INTO temp.database_end (pgno, data) VALUES (?1, NULL)";
    connection.execute(sql, [i64::from(pages) + 1])?;
    let sql = "INSERT INTO sqlite_dbpage (pgno, data) VALUES (1, ?1)";
    connection.execute(sql, [first]).map(drop)
}

/// Does something with a connection whose pages may be written meanwhile. The statements are ours
/// alone: no trigger of a stranger's schema sees them.
///
/// SQLite does not notice that pages change under it: after this, the connection is good for COMMIT
/// and ROLLBACK only.
pub(in crate::store) fn unguarded<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    change: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    // A defensive connection does not let pages be written.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let changed = change();
    // The result is looked at later: the connection is guarded again whatever has come of it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    changed
}

/// Cuts ranges of rows out of trees of the database. `false` if this SQLite gives no access to
/// pages, or the file is of another kind than ours: then nothing has changed.
pub(in crate::store) fn cut_ranges(
    connection: &Connection,
    page_size: u16,
    ranges: &[Range],
) -> Result<bool, Cause> {
    let Some(pages) = PagesBySql::of(connection)? else {
        return Ok(false);
    };
    let done = unguarded(connection, || {
        Ok::<_, Cause>(cut(pages, page_size, ranges)?)
    })?;
    Ok(done.is_some())
}

/// Appends trees to those of the database; each pair of roots is of the database and of `source`.
/// [`unguarded`] says what the connection is good for then.
pub(super) fn append_trees(
    connection: &Connection,
    database: Appender<PagesBySql<'_>>,
    source: &File,
    roots: &[(u32, u32)],
) -> Result<(), Cause> {
    unguarded(connection, || Ok(database.append(source, roots)?))
}

impl From<ChangeError<rusqlite::Error>> for Cause {
    fn from(error: ChangeError<rusqlite::Error>) -> Self {
        let sqlite = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        match error {
            ChangeError::Database(error) => Self::Sqlite(error),
            ChangeError::Source(error) => Self::File(error),
            ChangeError::Damaged => Self::Sqlite(sqlite(ffi::SQLITE_CORRUPT)),
            ChangeError::Full => Self::Sqlite(sqlite(ffi::SQLITE_FULL)),
        }
    }
}
