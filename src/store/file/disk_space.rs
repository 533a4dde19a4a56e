//! Whether the disk has room for a migration, or for compacting a database.

use std::path::Path;

use rusqlite::Connection;

use crate::store::error::Cause;
use crate::store::schema::{MIGRATIONS, Migration, MigrationKind};

/// Pages that new tables, indexes and views need.
const PAGES: u64 = 64;

/// Fails if the migrations that a file lacks may need more room than its disk has.
pub(in crate::store) fn check(connection: &Connection) -> Result<(), Cause> {
    let one = |sql: &str| {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0).map(i64::unsigned_abs))
    };
    let version = one("PRAGMA user_version")?;
    let pending = MIGRATIONS
        .iter()
        .skip(usize::try_from(version).unwrap_or(usize::MAX));
    let (page, pages) = (one("PRAGMA page_size")?, one("PRAGMA page_count")?);
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    let needed = needed(pending, page, pages, &journal);
    match free_beside(connection) {
        Some(free) if free < needed => Err(Cause::NoRoom { needed, free }),
        _ => Ok(()),
    }
}

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

/// Bytes that migrations may need besides those that the file has, until they are committed.
fn needed<'m>(
    migrations: impl Iterator<Item = &'m Migration>,
    page: u64,
    pages: u64,
    journal: &str,
) -> u64 {
    let mut migrations = migrations.peekable();
    if migrations.peek().is_none() || pages == 0 {
        return 0;
    }
    let copies = match (
        migrations.any(|migration| migration.kind == MigrationKind::Rewrites),
        journal,
    ) {
        (false, _) => 0,
        // The new tables in the log, the old ones' pages that they take over, and the new ones in
        // the file.
        (true, "wal") => 3,
        // The new tables, after the old ones in the file, and the old pages in the journal.
        (true, _) => 2,
    };
    page.saturating_mul(pages.saturating_mul(copies).saturating_add(PAGES))
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
