//! The schema of profdb's databases: its migrations, and making and upgrading a database.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::migrations::{Migrations, SchemaState, stored_text};
use super::objects::created_objects;
use super::views::VIEWS;
use crate::store::error::Cause;
use crate::store::identities;

/// `PRAGMA application_id` of profdb's databases: `PrDB`.
pub const APPLICATION_ID: i32 = 0x5072_4442;

/// The schema of profdb's databases. Versions 1 to 12 were never released.
pub const SCHEMA: Migrations = Migrations {
    application_id: APPLICATION_ID,
    first_version: 13,
    scripts: &[include_str!("../../../migrations/0001_initial.sql")],
    views: VIEWS,
};

/// `PRAGMA user_version` of a database with all migrations.
pub(in crate::store) const VERSION: i64 = SCHEMA.latest_version();

/// The schema version that databases are written in, and the version of SQLite that writes them.
#[must_use]
pub fn versions() -> (i64, &'static str) {
    (VERSION, rusqlite::version())
}

/// Makes or upgrades tables and views within a transaction.
pub(in crate::store) fn migrate(transaction: &Connection) -> Result<(), Cause> {
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == VERSION {
        // The schema was checked when the file was opened.
        return Ok(SCHEMA.replace_views(transaction)?);
    }
    match SCHEMA.upgrade(transaction)? {
        SchemaState::Empty => Ok(identities::begin(transaction)?),
        SchemaState::Version(_) => Ok(()),
        // Another process can change the file between opening and locking it.
        SchemaState::Altered(difference) => Err(Cause::Altered(difference)),
        SchemaState::Older(_) | SchemaState::Newer(_) | SchemaState::OtherApplication => {
            Err(Cause::Replaced)
        }
    }
}

/// Makes the tables and views of an empty database that is only serialized: its connection does not see the views. They are
/// inserted into the schema table directly, because `CREATE VIEW` parses each statement twice, which would take most of the
/// time for making a database.
pub(in crate::store) fn make(transaction: &Connection) -> Result<(), Cause> {
    for script in SCHEMA.scripts {
        transaction.execute_batch(script)?;
    }
    identities::begin(transaction)?;
    SCHEMA.mark(transaction)?;
    // This connection runs no untrusted SQL.
    transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    transaction.execute_batch("PRAGMA writable_schema = ON")?;
    let sql = "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
               VALUES ('view', ?1, ?1, 0, ?2)";
    let mut view = transaction.prepare(sql)?;
    for (name, sql) in VIEWS {
        view.execute([name, stored_text(sql)])?;
    }
    Ok(())
}

/// Returns the statements that make the tables and views of an empty database and mark it. They do not fill the tables of
/// identities.
pub(in crate::store) fn statements() -> String {
    let mut text = SCHEMA.scripts.concat();
    for (_, sql) in VIEWS {
        text.extend([stored_text(sql), ";\n"]);
    }
    text + &format!("PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {VERSION};\n")
}

/// Returns the names of all tables.
pub(in crate::store) fn tables() -> impl Iterator<Item = &'static str> {
    created_objects(SCHEMA.scripts)
        .into_iter()
        .filter(|(_, object)| object.kind == "table")
        .map(|(name, _)| name)
}

/// Returns the views that are missing in a database or have another text there.
pub(in crate::store) fn stale_views(
    connection: &Connection,
) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    SCHEMA.stale_views(connection)
}
