//! SQLite's pages, as its own pager hands them out.

use std::cell::OnceCell;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Statement, ffi};

use super::damage::{damaged, failure};
use super::table::{LINE, Range, TREES, Table};
use crate::base::error::Stop;
use profdb_sqlite_pages::cursor::{Cursor, PageSource, ReadError, page_size};
use profdb_sqlite_pages::values::Values;

/// Reads a page through SQLite's pager: locks, journal and log are its own.
const PAGE: &str = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";

/// The columns that the records of a table or an index have, in their order: generated ones are not
/// there, and tables WITHOUT ROWID begin with their key.
const COLUMNS: &str = "SELECT GROUP_CONCAT(name, ',')
                       FROM (
                         SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY pk = 0, pk, cid
                       )";
const INDEX_COLUMNS: &str = "SELECT GROUP_CONCAT(name, ',')
                             FROM (SELECT name FROM pragma_index_xinfo(?1) ORDER BY seqno)";

const ROOT: &str =
    "SELECT rootpage FROM sqlite_schema WHERE name = ?1 AND type IN ('table', 'index')";

/// Where the pages of the tables are.
pub(super) struct Pages {
    page_size: usize,
    /// How many pages the database has.
    count: u32,
    /// The root pages, as [`TREES`] has them, of tables that have been asked for; `None` where a table is of another kind
    /// than ours. Most questions ask for one or two tables of the eight.
    roots: [OnceCell<Option<u32>>; TREES.len()],
}

impl Pages {
    /// `None` if this SQLite gives no access to pages, or they are of another kind than ours.
    pub(super) fn of(connection: &Connection, stop: &Stop) -> rusqlite::Result<Option<Self>> {
        // It is compiled in or not, as docs/release.md says.
        let Ok(statement) = connection.prepare(PAGE) else {
            return Ok(None);
        };
        let mut first = Vec::new();
        PagesBySql { statement, stop }.page(1, &mut first)?;
        let Some(page_size) = page_size(&first) else {
            return Ok(None);
        };
        let count = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        Ok(Some(Self {
            page_size,
            count,
            roots: Default::default(),
        }))
    }

    /// The root page of a table; `None` if it is of another kind than ours.
    fn root(&self, connection: &Connection, table: Table) -> rusqlite::Result<Option<u32>> {
        let root = &self.roots[table.tree()];
        if let Some(root) = root.get() {
            return Ok(*root);
        }
        let stored = table.stored();
        let sql = if table == Table::EdgesByCaller {
            INDEX_COLUMNS
        } else {
            COLUMNS
        };
        let found: Option<String> = connection
            .prepare_cached(sql)?
            .query_row([stored.tree], |row| row.get(0))?;
        // Columns that were added at the end do not matter.
        let is_known = found.is_some_and(|found| found.starts_with(stored.columns));
        let page: Option<i64> = connection
            .prepare_cached(ROOT)?
            .query_row([stored.tree], |row| row.get(0))
            .optional()?;
        let page = page.and_then(|page| u32::try_from(page).ok());
        Ok(*root.get_or_init(|| page.filter(|_| is_known)))
    }

    /// Reads the rows of a table from the first one of a range on; `None` if the table is of another kind than ours.
    pub(super) fn rows<'c>(
        &self,
        connection: &'c Connection,
        stop: &'c Stop,
        table: Table,
        range: Range,
    ) -> rusqlite::Result<Option<RowsByPage<'c>>> {
        let Some(root) = self.root(connection, table)? else {
            return Ok(None);
        };
        let source = PagesBySql {
            statement: connection.prepare(PAGE)?,
            stop,
        };
        let cursor = if table.has_row_ids() {
            Cursor::table(source, root, self.page_size, self.count)
        } else {
            Cursor::index(source, root, self.page_size, self.count)
        };
        let mut rows = RowsByPage { cursor, table };
        rows.skip_to(range.of, range.first)?;
        Ok(Some(rows))
    }
}

/// Rows of a table from pages.
pub(super) struct RowsByPage<'c> {
    cursor: Cursor<PagesBySql<'c>>,
    table: Table,
}

impl RowsByPage<'_> {
    /// The next row: its row id, and its record. After the range, rows of others come.
    #[inline]
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<(i64, &[u8])>> {
        match self.table {
            Table::FunctionNodesOnly => self.cursor.next_row_where(may_be_of_a_function),
            _ => self.cursor.next_row(),
        }
        .map_err(unread)
    }

    /// Passes over rows before one.
    pub(super) fn skip_to(&mut self, of: i64, at: i64) -> rusqlite::Result<()> {
        let has_row_ids = self.table.has_row_ids();
        let key = |record: &[u8]| {
            let mut columns = Values::new(record)?;
            Some((columns.integer()?, columns.integer()?))
        };
        let is_before = |row_id, record: &[u8]| {
            if has_row_ids {
                row_id < at
            } else {
                key(record).is_some_and(|key| key < (of, at))
            }
        };
        self.cursor.seek(is_before).map_err(unread)
    }
}

/// Whether a record of `nodes` has no line, or may have none.
#[inline]
fn may_be_of_a_function(record: &[u8]) -> bool {
    Values::new(record)
        .and_then(|columns| columns.is_null(LINE))
        .unwrap_or(true)
}

/// Reads pages by a prepared statement.
struct PagesBySql<'c> {
    statement: Statement<'c>,
    stop: &'c Stop,
}

impl PageSource for PagesBySql<'_> {
    type Error = rusqlite::Error;

    fn page(&mut self, number: u32, bytes: &mut Vec<u8>) -> rusqlite::Result<()> {
        // Each statement is too short for SQLite to look at it.
        if self.stop.is_set() {
            return Err(failure(ffi::SQLITE_INTERRUPT));
        }
        bytes.clear();
        let mut rows = self.statement.query([number])?;
        if let Some(row) = rows.next()?
            && let ValueRef::Blob(page) = row.get_ref(0)?
        {
            bytes.extend_from_slice(page);
        }
        Ok(())
    }
}

fn unread(error: ReadError<rusqlite::Error>) -> rusqlite::Error {
    match error {
        ReadError::Source(error) => error,
        ReadError::Damaged => damaged(),
    }
}
