//! Migrations of a database: recognizing the version of a database and upgrading it.

use rusqlite::Connection;

use super::objects::first_difference;

/// A database schema, as the migrations that make its tables one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    /// `PRAGMA application_id` of the databases.
    pub application_id: i32,
    /// `PRAGMA user_version` after the first migration, at least 1. Databases with lower versions are not upgraded.
    pub first_version: i64,
    /// SQL scripts of the migrations, in order. Each `CREATE` statement starts on a new line, and ends with `)` or `END` at
    /// the beginning of a line. A script that changes a table creates it again under its old name.
    pub scripts: &'static [&'static str],
    /// Names and `CREATE VIEW` statements of the views. They are replaced when their text changes, without a migration.
    pub views: &'static [(&'static str, &'static str)],
}

/// The result of comparing a database with [`Migrations`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// A database without tables that no application has marked.
    Empty,
    /// A database of this version, with all tables, indexes and triggers of the version.
    Version(i64),
    /// A database of a version before the first one.
    Older(i64),
    /// A database of a version after the latest one.
    Newer(i64),
    /// A database of another application.
    OtherApplication,
    /// A database whose tables, indexes or triggers differ from those of its version; the text names one.
    Altered(String),
}

impl Migrations {
    /// Returns `PRAGMA user_version` after the last migration.
    #[must_use]
    #[expect(clippy::cast_possible_wrap, reason = "a list written by hand is short")]
    pub const fn latest_version(&self) -> i64 {
        self.first_version - 1 + self.scripts.len() as i64
    }

    /// Compares a database with the schema of its version.
    ///
    /// # Errors
    /// When SQLite cannot read the database.
    pub fn state(&self, connection: &Connection) -> rusqlite::Result<SchemaState> {
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let application = number("PRAGMA application_id")?;
        let version = number("PRAGMA user_version")?;
        let objects = number("SELECT COUNT(*) FROM sqlite_schema")?;
        if (application, version, objects) == (0, 0, 0) {
            return Ok(SchemaState::Empty);
        }
        if application != i64::from(self.application_id) {
            return Ok(SchemaState::OtherApplication);
        }
        if version < self.first_version {
            return Ok(SchemaState::Older(version));
        }
        if version > self.latest_version() {
            return Ok(SchemaState::Newer(version));
        }
        let (applied, _) = self.scripts.split_at(self.applied_scripts(version));
        let difference = first_difference(connection, applied, self.views)?;
        Ok(difference.map_or(SchemaState::Version(version), SchemaState::Altered))
    }

    /// Upgrades a database to the latest version: runs the scripts that it lacks, marks it, and replaces views with another
    /// text. Must be called within a transaction, which the caller rolls back on error.
    ///
    /// Returns the state before the upgrade. A database that is neither [`SchemaState::Empty`] nor of a known
    /// [`SchemaState::Version`] is not changed.
    ///
    /// # Errors
    /// When SQLite cannot read or change the database.
    pub fn upgrade(&self, transaction: &Connection) -> rusqlite::Result<SchemaState> {
        let state = self.state(transaction)?;
        let version = match state {
            SchemaState::Empty => 0,
            SchemaState::Version(version) => version,
            _ => return Ok(state),
        };
        let pending = &self.scripts[self.applied_scripts(version)..];
        for script in pending {
            transaction.execute_batch(script)?;
        }
        if !pending.is_empty() {
            self.mark(transaction)?;
        }
        // Views can read tables that the last script makes.
        self.replace_views(transaction)?;
        Ok(state)
    }

    /// Returns the number of scripts that have been run in a database of a known version, or of version 0.
    fn applied_scripts(&self, version: i64) -> usize {
        usize::try_from(version - self.first_version + 1).unwrap_or(0)
    }

    /// Writes the marks of the latest version.
    pub(super) fn mark(&self, transaction: &Connection) -> rusqlite::Result<()> {
        transaction.pragma_update(None, "application_id", self.application_id)?;
        transaction.pragma_update(None, "user_version", self.latest_version())
    }

    /// Replaces the views that are missing or have another text.
    pub(super) fn replace_views(&self, transaction: &Connection) -> rusqlite::Result<()> {
        for (name, sql) in self.stale_views(transaction)? {
            transaction.execute_batch(&format!("DROP VIEW IF EXISTS {name};"))?;
            transaction.execute_batch(sql)?;
        }
        Ok(())
    }

    /// Returns the views that are missing in a database or have another text there.
    pub(super) fn stale_views(
        &self,
        connection: &Connection,
    ) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
        let mut stale = self.views.to_vec();
        let mut statement =
            connection.prepare_cached("SELECT sql FROM sqlite_schema WHERE type = 'view'")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            // A value that is not text matches no view.
            let stored = row.get_ref(0)?.as_str().unwrap_or_default();
            stale.retain(|(_, sql)| stored_text(sql) != stored);
        }
        Ok(stale)
    }
}

/// Returns the text that SQLite stores for a statement: without the semicolon at its end.
pub(super) fn stored_text(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}
