//! Databases without runs.

use rusqlite::Connection;

use super::connection;
use crate::store::error::Cause;
use crate::store::schema::migrate;

/// Size of a page: SQLite's default.
pub(in crate::store) const PAGE_SIZE: u16 = 4096;

/// Makes the tables of a file that need not survive a crash.
pub(in crate::store) fn empty_tables(connection: &Connection) -> Result<(), Cause> {
    connection.pragma_update(None, "page_size", i64::from(PAGE_SIZE))?;
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.unchecked_transaction()?;
    migrate(&transaction)?;
    Ok(transaction.commit()?)
}

/// The bytes of a database with empty tables.
pub(in crate::store) fn empty_database() -> Result<Vec<u8>, Cause> {
    let mut connection = connection::open_in_memory()?;
    empty_tables(&connection)?;
    Ok(connection.serialize("main")?.to_vec())
}
