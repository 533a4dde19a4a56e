//! Databases without runs.

use std::sync::OnceLock;

use super::connection;
use crate::store::error::Cause;
use crate::store::schema;

/// Size of a page: SQLite's default.
pub(in crate::store) const PAGE_SIZE: u16 = 4096;

/// The bytes of a database with empty tables. They are made once: each run that goes into a segment
/// begins with them.
pub(in crate::store) fn empty_database() -> Result<&'static [u8], Cause> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = BYTES.get() {
        return Ok(bytes);
    }
    let made = made()?;
    Ok(BYTES.get_or_init(|| made))
}

fn made() -> Result<Vec<u8>, Cause> {
    let mut connection = connection::open_in_memory()?;
    connection.pragma_update(None, "page_size", i64::from(PAGE_SIZE))?;
    let transaction = connection.transaction()?;
    schema::make(&transaction)?;
    transaction.commit()?;
    Ok(connection.serialize("main")?.to_vec())
}
