//! What is no report: statements of the user's own, and tables of ours.

use super::answer::{Answer, Author, Heading, Placed, RowSource, Rows};
use super::error::{ReportError, failure};
use super::header::{Column, Kind};
use crate::store::Database;
use crate::text::cell::Value;
use crate::text::nearest::{some, suggestion};

/// Rows that are no database's, as an answer that every format can show.
#[must_use]
pub fn table<'d>(database: &'d Database, columns: &[&str], rows: Vec<Vec<Value>>) -> Answer<'d> {
    let column = |name: &&str| Column::plain((*name).to_owned(), Kind::Any);
    Answer {
        subject: None,
        heading: None,
        columns: columns.iter().map(column).collect(),
        script: String::new(),
        remarks: Vec::new(),
        dispensable: Vec::new(),
        namesakes: Vec::new(),
        placed: Placed::default(),
        rows: Rows::Kept(rows.into_iter().collect()),
        author: Author::Us,
        database,
    }
}

/// Rows that were found by comparing runs, with what they are about. `script` is what of it is SQL.
#[must_use]
pub fn compared<'d>(
    database: &'d Database,
    heading: Heading,
    columns: Vec<Column<'d>>,
    rows: Vec<Vec<Value>>,
) -> Answer<'d> {
    Answer {
        heading: Some(heading),
        columns,
        ..table(database, &[], rows)
    }
}

/// As [`compared`], with rows that are made anew for each reading: `each` gives them in order, as long as they are wanted.
#[must_use]
pub fn compared_one_by_one<'d>(
    database: &'d Database,
    heading: Heading,
    columns: Vec<Column<'d>>,
    each: impl Fn(&mut dyn FnMut(&[Value]) -> bool) + 'd,
) -> Answer<'d> {
    Answer {
        rows: Rows::Computed(Box::new(OneByOne(each))),
        ..compared(database, heading, columns, Vec::new())
    }
}

/// Rows that a function gives.
struct OneByOne<F>(F);

impl<F: Fn(&mut dyn FnMut(&[Value]) -> bool)> RowSource for OneByOne<F> {
    fn each(&self, give: &mut dyn FnMut(&[Value]) -> bool) -> rusqlite::Result<()> {
        (self.0)(give);
        Ok(())
    }
}

/// Runs a statement of the user's own, read-only.
///
/// # Errors
/// When it is no single statement, would change something, or fails.
pub fn query<'d>(database: &'d Database, sql: &str) -> Result<Answer<'d>, ReportError> {
    let failed = |source: rusqlite::Error| match source {
        rusqlite::Error::MultipleStatement => {
            ReportError::Usage("expected one statement".to_owned())
        }
        rusqlite::Error::SqlInputError { msg, .. } => {
            ReportError::Usage(with_nearest(database, msg))
        }
        // What the connection does not let statements do is their fault, too.
        rusqlite::Error::SqliteFailure(error, Some(message))
            if [
                rusqlite::ErrorCode::Unknown,
                rusqlite::ErrorCode::AuthorizationForStatementDenied,
            ]
            .contains(&error.code) =>
        {
            ReportError::Usage(with_nearest(database, message))
        }
        source => ReportError::Store(failure(database, source)),
    };
    let statement = database.connection().prepare(sql).map_err(failed)?;
    // A statement that changes nothing may still have no rows to give, such as BEGIN: that is no
    // answer.
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(ReportError::Usage(
            "expected a statement that reads: SELECT, WITH, VALUES or EXPLAIN".to_owned(),
        ));
    }
    let columns: Vec<Column<'_>> = statement
        .column_names()
        .map(|name| Column::plain(name.to_owned(), Kind::Any))
        .collect();
    // Who writes a statement names first what matters most.
    let dispensable = (1..columns.len()).rev().collect();
    Ok(Answer {
        subject: None,
        heading: None,
        columns,
        script: sql.to_owned(),
        remarks: Vec::new(),
        dispensable,
        rows: Rows::Statement(statement),
        author: Author::User,
        namesakes: Vec::new(),
        placed: Placed::default(),
        database,
    })
}

/// What SQLite complains of, with names that may have been meant.
fn with_nearest(database: &Database, message: String) -> String {
    let nearest = nearest(database, &message).unwrap_or_default();
    message + &nearest
}

/// The tables, views or columns whose names are most like one that SQLite does not find; of a column that others have, who has it.
fn nearest(database: &Database, message: &str) -> rusqlite::Result<String> {
    let tables = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'";
    let columns = "SELECT DISTINCT c.name
                   FROM sqlite_schema AS s
                   JOIN pragma_table_xinfo(s.name) AS c
                   WHERE s.type IN ('table', 'view')";
    let missing = |what: &str| message.strip_prefix(what);
    let (sql, name) = if let Some(table) = missing("no such table: ") {
        (tables, table)
    } else if let Some(column) = missing("no such column: ") {
        (columns, column)
    } else {
        return Ok(String::new());
    };
    // Of `s.functon`, the table is there.
    let name = name.rsplit('.').next().unwrap_or(name);
    let mut statement = database.connection().prepare(sql)?;
    let names = statement.query_map([], |row| row.get(0))?;
    let names = names.collect::<rusqlite::Result<Vec<String>>>()?;
    if sql == columns && names.iter().any(|known| known == name) {
        let owners = "SELECT s.name
                      FROM sqlite_schema AS s
                      JOIN pragma_table_xinfo(s.name) AS c
                      WHERE s.type IN ('table', 'view') AND c.name = ?1
                      ORDER BY s.type DESC, s.name";
        let mut statement = database.connection().prepare(owners)?;
        let owners = statement.query_map([name], |row| row.get(0))?;
        let owners = owners.collect::<rusqlite::Result<Vec<String>>>()?;
        return Ok(format!("; {name} is a column of {}", some(&owners)));
    }
    Ok(suggestion("; the nearest: ", name, names))
}
