//! Values that should be text and are not: SQLite stores any bytes as text, and does not check that
//! they are UTF-8.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::read::lossy;
use super::schema::tables;

/// A type of columns that hold text and, in labels, whole numbers.
const TEXT_OR_NUMBER: &str = "ANY";

/// A column of a table of ours.
struct Column {
    name: String,
    kind: String,
    is_key: bool,
}

/// Calls a function for every value of our tables that should be text and is not, with the words
/// that say where it is.
///
/// `is_wanted` says of which tables.
pub(super) fn each_wrong(
    connection: &Connection,
    is_wanted: impl Fn(&str) -> bool,
    mut found: impl FnMut(String) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    for table in tables().filter(|table| is_wanted(table)) {
        let sql = "SELECT name, type, pk > 0 FROM pragma_table_info(?1) ORDER BY cid";
        let mut statement = connection.prepare(sql)?;
        let read = |row: &Row<'_>| {
            Ok(Column {
                name: row.get(0)?,
                kind: row.get(1)?,
                is_key: row.get(2)?,
            })
        };
        let columns = statement
            .query_map([table], read)?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        // All tables are STRICT: values of a wrong type in the other columns are found by `PRAGMA
        // integrity_check`.
        let texts: Vec<&Column> = columns.iter().filter(|column| holds_text(column)).collect();
        if texts.is_empty() {
            continue;
        }
        let keys: Vec<&str> = columns
            .iter()
            .filter(|column| column.is_key)
            .map(|column| &*column.name)
            .collect();
        let names: Vec<&str> = texts.iter().map(|column| &*column.name).collect();
        let there: Vec<String> = names
            .iter()
            .map(|name| format!("{name} IS NOT NULL"))
            .collect();
        let selected = [&*names, &*keys].concat().join(", ");
        // Names of tables and columns cannot be parameters. They are ours: a file with another
        // schema was refused when it was opened.
        let sql = format!(
            "SELECT {selected} FROM {table} WHERE {} ORDER BY {}",
            there.join(" OR "),
            keys.join(", ")
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for (at, column) in texts.iter().enumerate() {
                if let Some(wrong) = wrong(row.get_ref(at)?, column) {
                    let key = (names.len()..).zip(&keys);
                    let key = key.map(|(at, name)| {
                        Ok(format!(
                            "{name} {}",
                            lossy(row.get_ref(at)?).unwrap_or_default()
                        ))
                    });
                    let key = key.collect::<rusqlite::Result<Vec<_>>>()?.join(", ");
                    found(format!("{table} where {key}: {} is {wrong}", column.name))?;
                }
            }
        }
    }
    Ok(())
}

fn holds_text(column: &Column) -> bool {
    column.kind == "TEXT" || column.kind == TEXT_OR_NUMBER
}

/// What a value is that should be text, if it is not.
fn wrong(value: ValueRef<'_>, column: &Column) -> Option<&'static str> {
    match value {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).is_err().then_some("not UTF-8"),
        ValueRef::Null => None,
        ValueRef::Integer(_) if column.kind == TEXT_OR_NUMBER => None,
        ValueRef::Integer(_) | ValueRef::Real(_) => Some("a number"),
        ValueRef::Blob(_) => Some("a blob"),
    }
}
