//! Opening SQLite, with all guards, for files and for memory. tests/repo/tidy/mod.rs sees to it
//! that no other code opens a connection.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::store::error::Cause;

/// What a statement may ask of SQLite, and what a schema may: more than ours need, and too little
/// to use up memory or time.
const LIMITS: [(Limit, i32); 4] = [
    (Limit::SQLITE_LIMIT_LENGTH, 256 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    // VACUUM needs one.
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
];

/// How many statements are kept for the next run: more than an import has.
const STATEMENTS: usize = 64;

/// Opens a file by its path, and reads nothing from it yet. The file may be a stranger's: no code
/// in its schema is trusted. SQLite neither checks references, which the writer takes care of, nor
/// waits for locks.
pub(in crate::store) fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Cause> {
    // SQLite, as it is compiled here, takes a name that begins with `file:` for a URI, and
    // `:memory:` for no file. A path from the root is always a path.
    let path = std::path::absolute(path)?;
    Ok(guarded(Connection::open_with_flags(
        path,
        flags | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?)?)
}

/// Opens a database in memory.
pub(in crate::store) fn open_in_memory() -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    guarded(Connection::open_in_memory_with_flags(flags)?)
}

fn guarded(connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // A view or a trigger could call functions with side effects, and files come from strangers
    // (docs/reliability.md, "Untrusted databases").
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, most) in LIMITS {
        connection.set_limit(limit, most)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", false)?;
    Ok(connection)
}
