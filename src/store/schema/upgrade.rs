//! Making the tables and views of an empty database, and upgrading those of an existing one.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::definition::{APPLICATION_ID, SCHEMA, VERSION};
use super::migrations::{SchemaState, stored_text};
use super::views::VIEWS;
use crate::store::error::Cause;
use crate::store::identities;

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
