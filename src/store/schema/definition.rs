//! The schema of profdb's databases: its version, migrations and views.

use rusqlite::Connection;

use super::migrations::Migrations;
use super::objects::created_objects;
use super::views::VIEWS;

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
