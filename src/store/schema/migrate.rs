//! Brings the schema of a database up to date.

use rusqlite::Connection;

use super::declared::foreign;
use super::migrations::{APPLICATION_ID, MIGRATIONS, Migration, MigrationKind, VERSION};
use super::restate::restate;
use super::views::stale_views;
use crate::store::error::Cause;

/// Takes the steps that the tables lack, and replaces views that are not as this program has them.
pub(in crate::store) fn migrate(transaction: &Connection) -> Result<(), Cause> {
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    if done < MIGRATIONS.len()
        && let Some(what) = foreign(transaction, done)?
    {
        // Another program may have changed the schema since the file was opened without the lock.
        return Err(Cause::Altered(what));
    }
    for step in done..MIGRATIONS.len() {
        apply(transaction, step)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    for (name, sql) in stale_views(transaction)? {
        transaction.execute_batch(&format!("DROP VIEW IF EXISTS {name};"))?;
        transaction.execute_batch(sql)?;
    }
    Ok(())
}

/// Takes one step from a version to the next.
pub(super) fn apply(transaction: &Connection, version: usize) -> Result<(), Cause> {
    let Migration { sql, kind } = &MIGRATIONS[version];
    match kind {
        MigrationKind::Adds | MigrationKind::Rewrites => Ok(transaction.execute_batch(sql)?),
        MigrationKind::Restates => restate(transaction, version),
    }
}
