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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Small pages: a few thousand rows are a tree of several levels.
    const PAGE_SIZE: u16 = 512;

    const SCHEMA: &str = "
        CREATE TABLE numbered (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        CREATE TABLE sorted (part INTEGER, id INTEGER, name TEXT, PRIMARY KEY (part, name, id)) STRICT, WITHOUT ROWID;
        CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT) STRICT;";

    /// Opens a file that need not survive a loss of power.
    fn open(path: &Path) -> Connection {
        let connection = Connection::open(path).expect("a file");
        connection
            .pragma_update(None, "synchronous", "OFF")
            .expect("SQL");
        connection
    }

    fn create(path: &Path) -> Connection {
        let connection = open(path);
        connection
            .pragma_update(None, "page_size", PAGE_SIZE)
            .expect("a size that SQLite knows");
        connection.execute_batch(SCHEMA).expect("a schema");
        connection
    }

    /// Inserts rows of a part, with texts up to `longest` bytes.
    fn insert(connection: &Connection, part: u64, rows: u64, longest: u64) {
        let transaction = connection
            .unchecked_transaction()
            .expect("no one else is here");
        let mut numbered = connection
            .prepare("INSERT INTO numbered VALUES (?1, ?2)")
            .expect("SQL");
        let mut sorted = connection
            .prepare("INSERT INTO sorted VALUES (?1, ?2, ?3)")
            .expect("SQL");
        for at in 0..rows {
            let length = usize::try_from((at * 7919 + part) % (longest + 1)).expect("a short text");
            let (id, name) = (
                part * 1_000_000 + at,
                format!("{at:09}").repeat(length / 9 + 1),
            );
            numbered
                .execute((id.cast_signed(), &name))
                .expect("space on the disk");
            sorted
                .execute((part.cast_signed(), at.cast_signed(), &name))
                .expect("space on the disk");
        }
        transaction.commit().expect("space on the disk");
    }

    fn rows(connection: &Connection) -> Vec<(i64, i64, String)> {
        let sql = "SELECT 0, id, name FROM numbered UNION ALL SELECT part, id, name FROM sorted";
        let mut statement = connection.prepare(sql).expect("SQL");
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    fn roots(connection: &Connection) -> Vec<u32> {
        let sql =
            "SELECT rootpage FROM sqlite_schema WHERE name IN ('numbered', 'sorted') ORDER BY name";
        let mut statement = connection.prepare(sql).expect("SQL");
        let roots = statement.query_map([], |row| row.get(0)).expect("rows");
        roots.collect::<Result<_, _>>().expect("rows")
    }

    fn one<T: rusqlite::types::FromSql>(connection: &Connection, sql: &str) -> T {
        connection
            .query_row(sql, [], |row| row.get(0))
            .expect("an answer")
    }

    /// Appends rows to those of a database in several parts, and compares them with rows that
    /// SQLite has inserted.
    fn check(parts: &[u64], longest: u64, free: u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("all.db");
        drop(create(&path));
        let expected = create(Path::new(":memory:"));
        for (part, rows) in (1..).zip(parts) {
            let connection = open(&path);
            let transaction = connection
                .unchecked_transaction()
                .expect("no one else is here");
            for _ in 0..free {
                let garbage = "INSERT INTO other (name) VALUES (hex(zeroblob(100)))";
                connection.execute(garbage, []).expect("space on the disk");
            }
            connection
                .execute("DELETE FROM other", [])
                .expect("it can be written");
            transaction.commit().expect("space on the disk");
            let (pages, unused): (u32, u32) = (
                one(&connection, "PRAGMA page_count"),
                one(&connection, "PRAGMA freelist_count"),
            );

            let segment_path = folder.path().join(format!("{part}.db"));
            let segment = create(&segment_path);
            insert(&segment, part, *rows, longest);
            insert(&expected, part, *rows, longest);
            let from = roots(&segment);
            let pairs: Vec<_> = roots(&connection).into_iter().zip(from).collect();
            connection
                .execute_batch("BEGIN IMMEDIATE")
                .expect("no one else is here");
            let database = database_pages(&connection, PAGE_SIZE)
                .expect("a sound file")
                .expect("pages are handed out");
            let source = File::open(&segment_path).expect("it is there");
            append_trees(&connection, database, &source, &pairs).expect("space");
            connection
                .execute_batch("COMMIT")
                .expect("space on the disk");
            drop(connection);

            let connection = open(&path);
            let found: String = one(&connection, "PRAGMA integrity_check");
            assert_eq!(found, "ok", "{parts:?}, {longest}, {free}, part {part}");
            assert!(
                self::rows(&connection) == self::rows(&expected),
                "{parts:?}, {longest}, {free}, part {part}"
            );
            let grown = one::<u32>(&connection, "PRAGMA page_count") - pages;
            let used = unused - one::<u32>(&connection, "PRAGMA freelist_count");
            assert!(
                grown == 0 || used == unused,
                "{grown} pages are new, and {} unused",
                unused - used
            );
        }
        // SQLite goes on with it.
        let connection = open(&path);
        insert(&connection, 99, 500, longest);
        insert(&expected, 99, 500, longest);
        connection
            .execute_batch(
                "DELETE FROM sorted WHERE part = 1; DELETE FROM numbered WHERE id < 2000000",
            )
            .expect("space");
        expected
            .execute_batch(
                "DELETE FROM sorted WHERE part = 1; DELETE FROM numbered WHERE id < 2000000",
            )
            .expect("space");
        assert_eq!(
            one::<String>(&connection, "PRAGMA integrity_check"),
            "ok",
            "{parts:?}, {longest}, {free}"
        );
        assert!(
            rows(&connection) == rows(&expected),
            "{parts:?}, {longest}, {free}"
        );
    }

    /// Cuts a range out of both trees of a database, and compares the rows that are left with those
    /// that SQLite leaves.
    fn check_cut(rows: u64, longest: u64, first: i64, last: i64) {
        let about = format!("{rows}, {longest}, {first} to {last}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cut.db");
        let connection = create(&path);
        let expected = create(Path::new(":memory:"));
        for connection in [&connection, &expected] {
            // Keys of the one tree count up from 1; those of the other come `rows / 40` times each.
            let each = (rows / 40).max(1);
            let sql = format!(
                "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows})
                 INSERT INTO numbered SELECT n, hex(zeroblob(abs(n * 7919) % {} / 2)) FROM c",
                longest + 1
            );
            connection.execute_batch(&sql).expect("space on the disk");
            let sql = format!(
                "INSERT INTO sorted SELECT (id + {each} - 1) / {each}, id, name FROM numbered"
            );
            connection.execute_batch(&sql).expect("space on the disk");
        }
        let roots = roots(&connection);
        connection
            .execute_batch("BEGIN IMMEDIATE")
            .expect("no one else is here");
        let ranges = roots.into_iter().map(|root| Range { root, first, last });
        let done = cut_ranges(&connection, PAGE_SIZE, &ranges.collect::<Vec<_>>());
        assert!(done.expect("a sound file"), "{about}");
        connection
            .execute_batch("COMMIT")
            .expect("space on the disk");
        drop(connection);
        let connection = open(&path);
        for table in ["numbered WHERE id", "sorted WHERE part"] {
            let sql = format!("DELETE FROM {table} BETWEEN ?1 AND ?2");
            expected.execute(&sql, (first, last)).expect("SQL");
        }
        let sound = |about: &str| {
            let found: String = one(&connection, "PRAGMA integrity_check");
            assert_eq!(found, "ok", "{about}");
            assert!(self::rows(&connection) == self::rows(&expected), "{about}");
        };
        sound(&about);
        // SQLite goes on with it, and uses the pages that are free.
        for connection in [&connection, &expected] {
            insert(connection, 99, 300, longest);
            connection
                .execute_batch(
                    "DELETE FROM numbered WHERE id % 3 = 0; DELETE FROM sorted WHERE id % 3 = 0",
                )
                .expect("space on the disk");
        }
        sound(&about);
    }

    #[test]
    fn every_small_range_is_cut_out() {
        for rows in [1_u64, 2, 5, 11, 12, 40] {
            for first in 1..=rows.cast_signed() {
                for last in (first - 1..=rows.cast_signed() + 1).step_by(3) {
                    check_cut(rows, 60, first, last);
                }
            }
        }
    }

    #[test]
    fn ranges_are_cut_out_of_trees_of_several_levels() {
        // Beginning, middle, end, all but the first row or the last, all, and nothing.
        for longest in [0, 30, 200, 3000] {
            for (first, last) in [
                (1, 1000),
                (1, 1999),
                (1, 2000),
                (2, 2000),
                (500, 1500),
                (1990, 2010),
                (7, 8),
                (3000, 4000),
                (1, 1),
                (2, 39),
                (1, 20),
                (20, 40),
                (10, 11),
            ] {
                check_cut(2000, longest, first, last);
            }
        }
    }

    #[test]
    fn trees_of_every_small_size_are_appended() {
        for rows in 0..40 {
            check(&[rows, 40 - rows, rows, 1], 60, 0);
        }
    }

    #[test]
    fn trees_of_several_levels_are_appended() {
        check(&[5000, 1, 5000, 300, 0, 20], 30, 0);
        check(&[1, 5000], 30, 0);
        check(&[0, 2400, 1, 1, 1, 2400], 30, 0);
    }

    #[test]
    fn roots_fill_up_row_by_row() {
        check(&(0..90).map(|part| 5 + part % 3).collect::<Vec<_>>(), 30, 0);
    }

    #[test]
    fn overflow_pages_are_copied() {
        for longest in [100, 500, 1000, 5000] {
            check(&[50, 3, 100, 1], longest, 0);
        }
    }

    #[test]
    fn pages_of_the_freelist_are_used_first() {
        for free in [1, 2, 40, 1000] {
            check(&[50, 300, 1, 300], 200, free);
        }
    }
}
