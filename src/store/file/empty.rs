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

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, OpenFlags};

    use super::*;

    fn texts(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(sql).expect("a statement");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    #[test]
    fn an_empty_database_is_as_statements_make_it() {
        let migrated = connection::open_in_memory().expect("room for a database");
        schema::migrate(&migrated).expect("an empty database");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("empty.db");
        std::fs::write(&path, empty_database().expect("a database")).expect("a file");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let empty = connection::open(&path, flags).expect("a database");
        for sql in [
            "SELECT FORMAT('%s %s %s %d %s', type, name, tbl_name, rootpage, sql) FROM sqlite_schema ORDER BY rowid",
            "SELECT FORMAT('%d %d', user_version, application_id) FROM pragma_user_version, pragma_application_id",
            "SELECT FORMAT('%d %s %s %s', position, about, pattern, replacement) FROM identity_rules",
            "SELECT HEX(digest) FROM identity_digests",
            "SELECT FORMAT('%s %s %s', tbl, idx, stat) FROM sqlite_stat1 ORDER BY rowid",
            "PRAGMA integrity_check",
        ] {
            assert_eq!(texts(&empty, sql), texts(&migrated, sql), "{sql}");
        }
        assert!(schema::stale_views(&empty).expect("a schema").is_empty());
        let views = texts(&empty, "SELECT name FROM sqlite_schema WHERE type = 'view'");
        assert!(!views.is_empty());
        for view in views {
            assert!(texts(&empty, &format!("SELECT 'a row' FROM {view}")).is_empty());
        }
    }
}
