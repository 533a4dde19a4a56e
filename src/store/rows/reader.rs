//! The rows of a table, whatever they are read from.

use rusqlite::{Connection, Transaction};

use super::damage::damaged;
use super::pages::{Pages, RowsByPage};
use super::statements::RowsBySql;
use super::table::{Range, Table};
use crate::base::error::Stop;
use profdb_sqlite_pages::values::Values;

/// The tables of a database at one moment.
pub(crate) struct Tables<'c> {
    connection: &'c Connection,
    stop: &'c Stop,
    pages: Option<Pages>,
    /// Another program may change the file between two pages or two statements.
    _snapshot: Option<Transaction<'c>>,
}

impl<'c> Tables<'c> {
    /// The tables as they are now: a transaction is open from here on, if none was.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn of(connection: &'c Connection, stop: &'c Stop) -> rusqlite::Result<Self> {
        let mut tables = Self::without_pages(connection, stop)?;
        tables.pages = Pages::of(connection, stop)?;
        Ok(tables)
    }

    /// The tables as they are now, whose rows are read by SQL.
    pub(super) fn without_pages(
        connection: &'c Connection,
        stop: &'c Stop,
    ) -> rusqlite::Result<Self> {
        let snapshot = if connection.is_autocommit() {
            Some(connection.unchecked_transaction()?)
        } else {
            None
        };
        Ok(Self {
            connection,
            stop,
            pages: None,
            _snapshot: snapshot,
        })
    }

    /// Reads the rows of a table that are in a range, in the order of their keys.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::store) fn rows(&self, table: Table, range: Range) -> rusqlite::Result<Rows<'c>> {
        let by_page = match &self.pages {
            Some(pages) => pages.rows(self.connection, self.stop, table, range)?,
            None => None,
        };
        let source = match by_page {
            Some(rows) => Source::Pages(rows),
            None => Source::Statements(Box::new(RowsBySql::new(self.connection, table, range)?)),
        };
        Ok(Rows {
            source,
            has_row_ids: table.has_row_ids(),
            is_unique: table.following().len() == 1,
            range,
            before: range.first.saturating_sub(1),
        })
    }
}

/// Rows of a table in the order of their keys.
pub(in crate::store) struct Rows<'c> {
    source: Source<'c>,
    has_row_ids: bool,
    /// There is one row at most for each node or function.
    is_unique: bool,
    range: Range,
    /// The node or function of the row before the next one.
    before: i64,
}

enum Source<'c> {
    Pages(RowsByPage<'c>),
    Statements(Box<RowsBySql<'c>>),
}

/// A row.
pub(in crate::store) struct StoredRow<'r> {
    /// Its node or function.
    pub(in crate::store) at: i64,
    /// The columns after that.
    pub(in crate::store) others: Values<'r>,
}

impl Rows<'_> {
    /// The next row.
    ///
    /// # Errors
    /// When the database fails or is damaged, and when the question is interrupted.
    #[inline]
    pub(in crate::store) fn next(&mut self) -> rusqlite::Result<Option<StoredRow<'_>>> {
        let found = match &mut self.source {
            Source::Pages(rows) => rows.next()?,
            Source::Statements(rows) => rows.next()?,
        };
        let Some((row_id, record)) = found else {
            return Ok(None);
        };
        let mut others = Values::new(record).ok_or_else(damaged)?;
        let at = if self.has_row_ids {
            // The column of the key is NULL in the record.
            if !others.skips_null() {
                others.next_value().ok_or_else(damaged)?;
            }
            row_id
        } else {
            let of = others.integer().ok_or_else(damaged)?;
            if of != self.range.of {
                return Ok(None);
            }
            others.integer().ok_or_else(damaged)?
        };
        if at > self.range.last {
            return Ok(None);
        }
        // What reads rows relies on their order.
        if at < self.before || (self.is_unique && at == self.before) {
            return Err(damaged());
        }
        self.before = at;
        Ok(Some(StoredRow { at, others }))
    }

    /// Passes over rows before those of a node or function.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub(in crate::store) fn skip_to(&mut self, at: i64) -> rusqlite::Result<()> {
        // Both go forward only.
        if at <= self.before {
            return Ok(());
        }
        match &mut self.source {
            Source::Pages(rows) => rows.skip_to(self.range.of, at),
            Source::Statements(rows) => {
                rows.skip_to(at);
                Ok(())
            }
        }
    }
}
