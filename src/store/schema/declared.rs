//! Whether the schema of a file is what the migrations make: a stranger's view in the place of a
//! table, or a trigger on one, would run within our statements.
//!
//! A user may have other tables, views and indexes, and nothing here reads them. Triggers are
//! refused: which table they belong to cannot be told from what the file says about them.

use std::collections::BTreeMap;

use memchr::memmem;
use rusqlite::Connection;

use super::migrations::MIGRATIONS;
use super::views::VIEWS;

/// How SQLite itself writes the text of what a user may have besides.
const HARMLESS: [(&str, &str); 5] = [
    ("table", "CREATE TABLE "),
    ("table", "CREATE VIRTUAL TABLE "),
    ("view", "CREATE VIEW "),
    ("index", "CREATE INDEX "),
    ("index", "CREATE UNIQUE INDEX "),
];

/// How names of SQLite's own tables and indexes begin.
const INTERNAL: &str = "sqlite_";

/// A table, index or trigger as a migration makes it.
pub(super) struct Declared {
    kind: &'static str,
    pub(super) sql: &'static str,
}

/// What makes a schema of this version another one than ours, in words. Views of ours with another
/// text do not: they are replaced.
pub(in crate::store) fn foreign(
    connection: &Connection,
    version: usize,
) -> rusqlite::Result<Option<String>> {
    let mut missing = declared(version);
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        let sql: Option<String> = row.get(2)?;
        let sql = sql.unwrap_or_default();
        // Names of tables are equal in SQLite whatever the case of their letters.
        let ours = missing.remove(&*name.to_ascii_lowercase());
        let view = VIEWS
            .iter()
            .any(|(view, _)| name.eq_ignore_ascii_case(view));
        let expected = match &ours {
            Some(declared) if declared.kind == kind && declared.sql == sql.trim_end() => continue,
            Some(declared) => Some(declared.kind),
            None if view => (kind != "view").then_some("view"),
            None => None,
        };
        if let Some(expected) = expected {
            return Ok(Some(format!(
                "the {kind} {name} is not the {expected} that profdb makes"
            )));
        }
        let harmless = HARMLESS
            .iter()
            .any(|(harmless, start)| kind == *harmless && sql.starts_with(start));
        if !harmless && !name.starts_with(INTERNAL) {
            return Ok(Some(format!("the {kind} {name} is none of profdb's")));
        }
    }
    Ok(missing
        .first_key_value()
        .map(|(name, Declared { kind, .. })| format!("the {kind} {name} is missing")))
}

/// The tables that the first migrations make.
pub(in crate::store) fn tables(version: usize) -> impl Iterator<Item = &'static str> {
    declared(version)
        .into_iter()
        .filter(|(_, declared)| declared.kind == "table")
        .map(|(name, _)| name)
}

/// What the first migrations make, as SQLite keeps the text: by name, the latest text of each.
pub(super) fn declared(version: usize) -> BTreeMap<&'static str, Declared> {
    let mut declared = BTreeMap::new();
    for migration in MIGRATIONS.iter().take(version) {
        let migration = migration.sql;
        for at in memmem::find_iter(migration.as_bytes(), "CREATE ") {
            // Comments and statements within a trigger may say CREATE as well: only a statement of
            // the migration itself begins a line with it.
            if at > 0 && !migration[..at].ends_with('\n') {
                continue;
            }
            let text = &migration[at..];
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
            declared.insert(
                name,
                Declared {
                    kind,
                    sql: &text[..end],
                },
            );
        }
    }
    declared
}

#[cfg(test)]
mod tests {
    use super::super::migrate::apply;
    use super::*;

    fn made(version: usize) -> Connection {
        let connection = Connection::open_in_memory().expect("room for a database");
        // As in every connection of ours: else a table that is renamed takes the references to it
        // along.
        connection
            .pragma_update(None, "foreign_keys", false)
            .expect("a setting");
        for step in 0..version {
            apply(&connection, step).unwrap_or_else(|cause| panic!("step {step}: {cause:?}"));
        }
        connection
    }

    #[test]
    fn what_migrations_make_is_ours() {
        for version in 0..=MIGRATIONS.len() {
            let connection = made(version);
            assert_eq!(
                foreign(&connection, version).expect("a schema"),
                None,
                "version {version}"
            );
            let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'";
            let found: i64 = connection
                .query_row(sql, [], |row| row.get(0))
                .expect("a number");
            assert_eq!(
                found,
                i64::try_from(declared(version).len()).expect("a few"),
                "version {version}"
            );
        }
    }

    #[test]
    fn every_other_text_is_foreign() {
        let sql = "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' AND sql IS NOT NULL";
        let version = MIGRATIONS.len();
        let connection = made(version);
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut statement = connection.prepare(sql).expect("a statement");
        let all: Vec<(String, String)> = statement
            .query_map([], read)
            .expect("a schema")
            .collect::<Result<_, _>>()
            .expect("a schema");
        for (name, kind) in all {
            for (change, says) in [
                (
                    "UPDATE sqlite_schema SET sql = sql || ' /* */' WHERE name = ?1",
                    "is not the",
                ),
                ("DELETE FROM sqlite_schema WHERE name = ?1", "is missing"),
            ] {
                let connection = made(version);
                connection
                    .execute_batch("PRAGMA writable_schema = ON")
                    .expect("not defensive");
                connection.execute(change, [&name]).expect("not defensive");
                let found = foreign(&connection, version)
                    .expect("a schema")
                    .unwrap_or_default();
                assert!(
                    found.contains(&format!("{kind} {name}")) && found.contains(says),
                    "{name}: {found}"
                );
            }
        }
    }

    #[test]
    fn what_a_user_has_besides_is_no_concern_of_ours() {
        let connection = made(MIGRATIONS.len());
        let own = "CREATE TABLE mine (x);
                   CREATE INDEX mine_x ON mine (x);
                   CREATE UNIQUE INDEX \"my titles\" ON runs (title, run_id);
                   CREATE VIEW my_view AS SELECT node_id FROM nodes;
                   CREATE VIRTUAL TABLE words USING fts5(word);
                   ANALYZE;";
        connection.execute_batch(own).expect("statements");
        assert_eq!(
            foreign(&connection, MIGRATIONS.len()).expect("a schema"),
            None
        );
        connection
            .execute_batch("CREATE TRIGGER t AFTER INSERT ON mine BEGIN SELECT 1; END")
            .expect("a statement");
        let found = foreign(&connection, MIGRATIONS.len()).expect("a schema");
        assert_eq!(found.as_deref(), Some("the trigger t is none of profdb's"));
    }
}
