//! Schema objects that migrations create, and their comparison with a database. A view of untrusted origin in place of a
//! table, or a trigger on one, would run within profdb's own statements.
//!
//! Users may have tables, views and indexes of their own: nothing in profdb reads them. Triggers are refused, because the
//! text of a trigger does not prove which table it belongs to.

use std::collections::BTreeMap;

use memchr::memmem;
use rusqlite::Connection;

/// Beginnings of the statements that create the objects a user may add, as SQLite stores them.
const ALLOWED: [(&str, &str); 5] = [
    ("table", "CREATE TABLE "),
    ("table", "CREATE VIRTUAL TABLE "),
    ("view", "CREATE VIEW "),
    ("index", "CREATE INDEX "),
    ("index", "CREATE UNIQUE INDEX "),
];

/// Prefix of the names of SQLite's own tables and indexes.
const INTERNAL: &str = "sqlite_";

/// A table, index or trigger as a migration creates it.
pub(super) struct SchemaObject {
    pub(super) kind: &'static str,
    sql: &'static str,
}

/// Returns the first difference between the schema of a database and the given scripts, as a text for users. A view of the
/// given names with another text is not a difference, because it is replaced.
pub(super) fn first_difference(
    connection: &Connection,
    scripts: &[&'static str],
    views: &[(&str, &str)],
) -> rusqlite::Result<Option<String>> {
    let mut missing = created_objects(scripts);
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        let sql: Option<String> = row.get(2)?;
        let sql = sql.unwrap_or_default();
        // SQLite compares names of tables without regard to case.
        let object = missing.remove(&*name.to_ascii_lowercase());
        let is_view = views
            .iter()
            .any(|(view, _)| name.eq_ignore_ascii_case(view));
        let expected = match &object {
            Some(object) if object.kind == kind && object.sql == sql.trim_end() => continue,
            Some(object) => Some(object.kind),
            None if is_view => (kind != "view").then_some("view"),
            None => None,
        };
        if let Some(expected) = expected {
            return Ok(Some(format!(
                "the {kind} {name} is not the {expected} that profdb makes"
            )));
        }
        let is_allowed = ALLOWED
            .iter()
            .any(|(allowed, start)| kind == *allowed && sql.starts_with(start));
        if !is_allowed && !name.starts_with(INTERNAL) {
            return Ok(Some(format!("the {kind} {name} does not belong to profdb")));
        }
    }
    Ok(missing
        .first_key_value()
        .map(|(name, SchemaObject { kind, .. })| format!("the {kind} {name} is missing")))
}

/// Returns the objects that the scripts create, by name, with the text that SQLite stores. If several scripts create an
/// object, the last text counts.
pub(super) fn created_objects(scripts: &[&'static str]) -> BTreeMap<&'static str, SchemaObject> {
    let mut objects = BTreeMap::new();
    for script in scripts {
        for start in memmem::find_iter(script.as_bytes(), "CREATE ") {
            // CREATE also occurs in comments and within triggers, but not at the beginning of a line.
            if start > 0 && !script[..start].ends_with('\n') {
                continue;
            }
            let text = &script[start..];
            let mut words = text.split_ascii_whitespace().skip(1);
            let (kind, name) = (
                words.next().unwrap_or_default(),
                words.next().unwrap_or_default(),
            );
            let (kind, end) = match kind {
                "TABLE" => ("table", "\n)"),
                "INDEX" => ("index", "\n)"),
                _ => ("trigger", "\nEND"),
            };
            let end = text.find(end).unwrap_or_default();
            let end = end + text[end..].find(';').unwrap_or_default();
            let sql = &text[..end];
            objects.insert(name, SchemaObject { kind, sql });
        }
    }
    objects
}
