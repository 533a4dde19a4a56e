//! Free space on the disk for compacting a database.

use std::path::Path;

use rusqlite::Connection;

use crate::store::error::Cause;

/// Number of additional pages for the schema and partly filled pages.
const PAGES: u64 = 64;

/// Fails if compacting a database may need more room than its disk has: `used` is the number of
/// pages that are on no freelist.
pub(in crate::store) fn check_copies(
    connection: &Connection,
    page: i64,
    used: i64,
) -> Result<(), Cause> {
    let needed = needed_to_compact(page.unsigned_abs(), used.unsigned_abs());
    match free_beside(connection) {
        Some(free) if free < needed => Err(Cause::NoRoomToCompact { needed, free }),
        _ => Ok(()),
    }
}

/// Bytes that compacting may need besides those that the file has: a copy of the pages that are
/// used, and the pages in their place in the journal, or the new ones in the log (WAL).
fn needed_to_compact(page: u64, used: u64) -> u64 {
    page.saturating_mul(used.saturating_mul(2).saturating_add(PAGES))
}

/// Free bytes on the disk of a database; `None` if it has no file, or the system does not say.
fn free_beside(connection: &Connection) -> Option<u64> {
    let path = connection.path().filter(|path| !path.is_empty())?;
    free(Path::new(path))
}

/// Free bytes on the disk of a file, for this user; `None` if the system does not say.
#[cfg(unix)]
fn free(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(not(unix))]
fn free(_path: &Path) -> Option<u64> {
    None
}
