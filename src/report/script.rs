//! The statements that answer a question, kept as text, so that they can be shown and run again in
//! any SQLite shell.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Statement, ToSql};

use super::error::failure;
use crate::store::{Database, StoreError};

/// A value with the name of its parameter, without the colon.
pub(super) type Bound<'v> = (&'v str, &'v dyn ToSql);

/// The statements of one question on one database, in order.
pub(super) struct Script<'d> {
    database: &'d Database,
    text: RefCell<String>,
    /// The values that the text has given parameters so far.
    set: RefCell<BTreeMap<String, String>>,
}

impl<'d> Script<'d> {
    pub(super) fn new(database: &'d Database) -> Self {
        Self {
            database,
            text: RefCell::default(),
            set: RefCell::default(),
        }
    }

    pub(super) fn database(&self) -> &'d Database {
        self.database
    }

    /// Runs statements that take no parameters.
    pub(super) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.write(sql, &[]);
        self.database
            .connection()
            .execute_batch(sql)
            .map_err(|source| failure(self.database, source))
    }

    /// Runs the statements of a text one after the other, with the parameters that each of them
    /// mentions; says how many rows the last one has changed.
    pub(super) fn run(&self, sql: &str, parameters: &[Bound<'_>]) -> Result<usize, StoreError> {
        let run = || -> rusqlite::Result<usize> {
            let mut changed = 0;
            // Each statement is prepared after the one before has run: it may need its tables.
            let mut batch = rusqlite::Batch::new(self.database.connection(), sql);
            while let Some(mut statement) = batch.next()? {
                bind(&mut statement, parameters)?;
                changed = statement.raw_execute()?;
            }
            Ok(changed)
        };
        self.write(sql, parameters);
        run().map_err(|source| failure(self.database, source))
    }

    /// Prepares the statement that answers.
    pub(super) fn prepare(
        &self,
        sql: &str,
        parameters: &[Bound<'_>],
    ) -> Result<Statement<'d>, StoreError> {
        self.write(sql, parameters);
        self.prepare_aside(sql, parameters)
    }

    /// Prepares a statement that is no part of the text: its rows would come before those of the
    /// answer.
    pub(super) fn prepare_aside(
        &self,
        sql: &str,
        parameters: &[Bound<'_>],
    ) -> Result<Statement<'d>, StoreError> {
        let prepared = || {
            let mut statement = self.database.connection().prepare(sql)?;
            bind(&mut statement, parameters)?;
            Ok(statement)
        };
        prepared().map_err(|source| failure(self.database, source))
    }

    /// The one number that a statement gives, which is no part of the text; 0 if it is NULL.
    pub(super) fn number(&self, sql: &str) -> Result<f64, StoreError> {
        self.known(sql).map(Option::unwrap_or_default)
    }

    /// The one number that a statement gives, which is no part of the text; `None` if it is NULL.
    pub(super) fn known(&self, sql: &str) -> Result<Option<f64>, StoreError> {
        self.database
            .connection()
            .query_row(sql, [], |row| row.get(0))
            .map_err(|source| failure(self.database, source))
    }

    /// All statements so far, as text for the sqlite3 shell.
    pub(super) fn into_text(self) -> String {
        format!(".parameter init\n{}", self.text.into_inner())
    }

    fn write(&self, sql: &str, parameters: &[Bound<'_>]) {
        let mut text = self.text.borrow_mut();
        for (name, value) in parameters {
            if !mentions(sql, name) {
                continue;
            }
            let literal = literal(*value);
            // A parameter keeps its value in the shell: it is set again only where it changes.
            if self.set.borrow().get(*name) != Some(&literal) {
                let _ = writeln!(
                    text,
                    // The sqlite3 shell binds parameters from this table, which `.parameter init`
                    // makes.
                    "REPLACE INTO temp.sqlite_parameters VALUES (':{name}', {literal});"
                );
                self.set.borrow_mut().insert((*name).to_owned(), literal);
            }
        }
        text.push_str(sql);
        if !sql.ends_with('\n') {
            text.push('\n');
        }
    }
}

/// Binds the values of the parameters that the statement mentions.
fn bind(statement: &mut Statement<'_>, parameters: &[Bound<'_>]) -> rusqlite::Result<()> {
    for (name, value) in parameters {
        if let Some(at) = statement.parameter_index(&format!(":{name}"))? {
            statement.raw_bind_parameter(at, value)?;
        }
    }
    Ok(())
}

/// Whether a text mentions the parameter.
fn mentions(sql: &str, name: &str) -> bool {
    let parameter = format!(":{name}");
    let goes_on =
        |rest: &str| rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
    sql.match_indices(&parameter)
        .any(|(at, _)| !goes_on(&sql[at + parameter.len()..]))
}

/// A value as SQL writes it.
fn literal(value: &dyn ToSql) -> String {
    let owned;
    let value = match value.to_sql() {
        Ok(ToSqlOutput::Borrowed(value)) => value,
        Ok(ToSqlOutput::Owned(value)) => {
            owned = value;
            ValueRef::from(&owned)
        }
        _ => ValueRef::from(&SqlValue::Null),
    };
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(value) => value.to_string(),
        // `{:?}` writes 7.0 where `{}` writes 7, which SQL reads as an integer.
        ValueRef::Real(value) => format!("{value:?}"),
        ValueRef::Text(text) | ValueRef::Blob(text) => text_literal(text),
    }
}

/// Text in quotes; what would end a line or the text early is given by its bytes.
fn text_literal(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains(char::is_control) => format!("'{}'", text.replace('\'', "''")),
        _ => {
            let bytes = text.iter().fold(String::new(), |mut bytes, byte| {
                let _ = write!(bytes, "{byte:02x}");
                bytes
            });
            format!("CAST(x'{bytes}' AS TEXT)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_sql_reads_them() {
        let database = Database::in_memory().expect("memory");
        let values: [&dyn ToSql; 8] = [
            &None::<i64>,
            &7_i64,
            &-1.5_f64,
            &1e300_f64,
            &0.1_f64,
            &"it's :run; --",
            &"a\nb\0c\u{7f}",
            &true,
        ];
        for value in values {
            let sql = format!("SELECT {} IS ?1", literal(value));
            let same = database
                .connection()
                .query_row(&sql, [value], |row| row.get::<_, bool>(0));
            assert!(same.expect("a row"), "{sql}");
        }
    }

    #[test]
    fn a_parameter_is_not_mentioned_by_a_longer_one() {
        assert!(mentions("WHERE run_id = :run;", "run"));
        assert!(mentions(":runs :run", "run"));
        assert!(!mentions("WHERE x = :run_id", "run"));
    }
}
