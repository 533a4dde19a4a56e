//! How SQLite is opened: the same way for every file and for memory. tests/tidy.rs sees to it that there is no other.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

/// What a statement may ask of SQLite, its schema included: more than anything of ours needs, and less than it would take
/// to be a burden.
const LIMITS: [(Limit, i32); 4] = [
    (Limit::SQLITE_LIMIT_LENGTH, 256 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    // VACUUM needs one.
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
];

/// Opens a file, or `:memory:`. The file comes from a stranger, as far as we know: no code in its schema is trusted, and the
/// writer vouches for the references itself. Nothing waits for a lock.
pub(super) fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, most) in LIMITS {
        connection.set_limit(limit, most)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", false)?;
    Ok(connection)
}
