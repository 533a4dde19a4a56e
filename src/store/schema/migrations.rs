//! The tables of a database: the migrations that make them, one after the other.

/// Marks a file as ours (`PRAGMA application_id`): `PrDB`.
pub const APPLICATION_ID: i32 = 0x5072_4442;

/// A step from one version of the tables to the next.
pub(in crate::store) struct Migration {
    pub(in crate::store) sql: &'static str,
    pub(in crate::store) kind: MigrationKind,
}

/// What a migration does to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum MigrationKind {
    /// It makes tables, columns or indexes, or writes small tables anew.
    Adds,
    /// It writes rows of large tables anew, which takes room on the disk.
    Rewrites,
    /// It changes the texts of tables only: its `CREATE TABLE` statements replace those in the
    /// schema.
    Restates,
}

/// The tables, in the order in which they came to be: number = `PRAGMA user_version`. Append-only.
pub(in crate::store) const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("../../../migrations/0001_core.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../../migrations/0002_sources.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../../migrations/0003_small_rows.sql"),
        kind: MigrationKind::Rewrites,
    },
    Migration {
        sql: include_str!("../../../migrations/0004_labels.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../../migrations/0005_total_source.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../../migrations/0006_foreign_keys.sql"),
        kind: MigrationKind::Restates,
    },
    Migration {
        sql: include_str!("../../../migrations/0007_timer_readings.sql"),
        kind: MigrationKind::Adds,
    },
];

/// `PRAGMA user_version` of a file that has all of them.
#[expect(
    clippy::cast_possible_wrap,
    reason = "a list that is written by hand is short"
)]
pub(in crate::store) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The schema version that databases are written in, and the version of SQLite that writes them.
#[must_use]
pub fn versions() -> (i64, &'static str) {
    (VERSION, rusqlite::version())
}
