//! Rows by SQL, some at a time, as the records that pages would have.

use rusqlite::types::{Type, Value, ValueRef};
use rusqlite::{Connection, Row, Statement};

use super::table::{Range, Table};
use profdb_sqlite_pages::record::Record;

/// Rows that a statement gives at a time: few at first, because most of them may be passed over.
const FEWEST: u32 = 32;
const MOST: u32 = 2048;

/// Rows of a table by SQL.
pub(super) struct RowsBySql<'c> {
    connection: &'c Connection,
    table: Table,
    range: Range,
    /// Rows from a first node or function on.
    from: Statement<'c>,
    /// Rows after one, where it takes more than the node or function to say which.
    after: Option<Statement<'c>>,
    /// What has been read: the node or function of each row, and where its record ends in `bytes`.
    rows: Vec<(i64, usize)>,
    bytes: Vec<u8>,
    record: Record,
    /// How many of `rows` have come.
    given: usize,
    at_a_time: u32,
    /// The key of the last row that has been read, from the node or function on; empty if there is
    /// none.
    last: Vec<Value>,
    is_at_end: bool,
}

impl<'c> RowsBySql<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        table: Table,
        range: Range,
    ) -> rusqlite::Result<Self> {
        let from = format!("{} >= ?4", table.following()[0]);
        Ok(Self {
            connection,
            from: connection.prepare(&select(table, &from))?,
            after: None,
            table,
            range,
            rows: Vec::new(),
            bytes: Vec::new(),
            record: Record::default(),
            given: 0,
            at_a_time: FEWEST,
            last: Vec::new(),
            is_at_end: false,
        })
    }

    /// The next row: its node or function, and its record.
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<(i64, &[u8])>> {
        if self.given == self.rows.len() {
            self.read_on()?;
        }
        let Some((at, end)) = self.rows.get(self.given) else {
            return Ok(None);
        };
        let start = match self.given {
            0 => 0,
            given => self.rows[given - 1].1,
        };
        self.given += 1;
        Ok(Some((*at, &self.bytes[start..*end])))
    }

    /// Passes over rows before those of a node or function.
    pub(super) fn skip_to(&mut self, at: i64) {
        if matches!(self.rows.last(), Some((last, _)) if *last >= at) || self.is_at_end {
            let passed = self.rows[self.given..].partition_point(|(row, _)| *row < at);
            self.given += passed;
            return;
        }
        self.range.first = self.range.first.max(at);
        self.rows.clear();
        self.given = 0;
        self.last.clear();
        self.at_a_time = FEWEST;
    }

    /// Reads the rows after those that have been read.
    fn read_on(&mut self) -> rusqlite::Result<()> {
        self.rows.clear();
        self.bytes.clear();
        self.given = 0;
        if self.is_at_end {
            return Ok(());
        }
        let following = self.table.following();
        let statement = if self.last.is_empty() {
            self.last.push(Value::Integer(self.range.first));
            &mut self.from
        } else if let Some(after) = &mut self.after {
            after
        } else {
            let marks: Vec<_> = (4..4 + following.len())
                .map(|at| format!("?{at}"))
                .collect();
            let after = format!("({}) > ({})", following.join(", "), marks.join(", "));
            let after = self.connection.prepare(&select(self.table, &after))?;
            self.after.insert(after)
        };
        statement.raw_bind_parameter(1, self.range.of)?;
        statement.raw_bind_parameter(2, self.range.last)?;
        statement.raw_bind_parameter(3, self.at_a_time)?;
        for (mark, value) in (4..).zip(&self.last) {
            statement.raw_bind_parameter(mark, value)?;
        }
        let most = self.at_a_time as usize;
        let columns = statement.column_count();
        let has_row_ids = self.table.has_row_ids();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let at = row.get(usize::from(!has_row_ids))?;
            record(&mut self.record, row, columns, has_row_ids)?;
            self.bytes.extend_from_slice(self.record.bytes());
            self.rows.push((at, self.bytes.len()));
            if self.rows.len() == most {
                let key = self.table.stored().key;
                let last = (key - following.len()..key).map(|at| row.get(at));
                self.last = last.collect::<rusqlite::Result<_>>()?;
            }
        }
        self.is_at_end = self.rows.len() < most;
        self.at_a_time = (2 * self.at_a_time).min(MOST);
        Ok(())
    }
}

/// The statement that gives the rows of a table which meet a condition, at most `?3` of them: of the
/// run or metric `?1`, up to the node or function `?2`.
fn select(table: Table, condition: &str) -> String {
    let stored = table.stored();
    let following = table.following();
    let of = if table.has_row_ids() {
        String::new()
    } else {
        format!("{} = ?1 AND ", table.keys()[0])
    };
    format!(
        "SELECT {} FROM {} WHERE {of}{}{} <= ?2 AND {condition} ORDER BY {} LIMIT ?3",
        stored.columns,
        stored.from,
        stored.only,
        following[0],
        table.keys().join(", ")
    )
}

/// Makes the record that a page would have of a row.
fn record(
    record: &mut Record,
    row: &Row<'_>,
    columns: usize,
    has_row_ids: bool,
) -> rusqlite::Result<()> {
    record.start();
    for at in 0..columns {
        match row.get_ref(at)? {
            _ if has_row_ids && at == 0 => record.null(),
            ValueRef::Null => record.null(),
            ValueRef::Integer(value) => record.integer(value),
            ValueRef::Real(value) => record.real(value),
            ValueRef::Text(value) => record.text_bytes(value),
            ValueRef::Blob(_) => {
                let name = row.as_ref().column_name(at)?.to_owned();
                return Err(rusqlite::Error::InvalidColumnType(at, name, Type::Blob));
            }
        };
    }
    Ok(())
}
