//! Whether a database is as it should be.

use rusqlite::{ErrorCode, Row};

use super::database::Database;
use super::dates;
use super::error::StoreError;
use super::identities;
use super::read::lossy;
use super::recount::{Doubt, NOT_RECOUNTED, TEXTS_RECOUNTED, recount};
use super::schema::stale_views;
use super::texts;
use crate::base::query::query;

/// Statements that find no row in a database that is consistent, by name.
pub const CHECKS: &[(&str, &str)] = &[
    query!("checks", "nodes_in_runs"),
    query!("checks", "runs_complete"),
    query!("checks", "intervals"),
    query!("checks", "outer_nodes"),
    query!("checks", "line_nodes"),
    query!("checks", "function_nodes"),
    query!("checks", "function_totals"),
    query!("checks", "functions_listed"),
    query!("checks", "line_totals"),
    query!("checks", "edge_totals"),
    query!("checks", "metrics_listed"),
    query!("checks", "references"),
    query!("checks", "sources"),
    query!("checks", "labels"),
];

/// Rows of a finding that are shown.
const EXAMPLES: usize = 5;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked: `integrity` (SQLite's own check of the file), `foreign_keys` that tables
    /// declare, `views`, `texts` (whether they are UTF-8), `identities` (with the fingerprints of runs), `dates` (when runs were recorded), or the name of a statement in
    /// `queries/checks`.
    pub check: &'static str,
    /// How many rows are wrong; 1 where nothing more can be read.
    pub count: usize,
    /// The first of them: what SQLite says, or their columns with names and values.
    pub examples: Vec<String>,
}

impl Database {
    /// Checks the file itself, then what the tables say. That the schema is ours was checked when
    /// the file was opened.
    ///
    /// # Errors
    /// When the database cannot be read that far.
    pub fn check(&self) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        let integrity = self.found("integrity", "PRAGMA integrity_check", |row| row.get(0))?;
        // One row says `ok`.
        let is_intact = matches!(&integrity, Some(found) if found.examples == ["ok"]);
        if !is_intact {
            findings.extend(integrity);
        }
        findings.extend(self.found("foreign_keys", "PRAGMA foreign_key_check", columns)?);
        findings.extend(self.foreign_views()?);
        // Without a sound file under it, a recount says nothing.
        let is_recounted = is_intact && self.is_as_recounted()?;
        let has_texts_unread = |table: &str| !is_recounted || !TEXTS_RECOUNTED.contains(&table);
        findings.extend(self.wrong_texts(has_texts_unread)?);
        findings.extend(self.wrong_identities()?);
        findings.extend(self.wrong_dates()?);
        let asked = |check| !is_recounted || NOT_RECOUNTED.contains(&check);
        findings.extend(self.broken_rules_of(asked)?);
        Ok(findings)
    }

    /// Whether the figures of all runs are what one pass over their nodes gives, so that the
    /// statements about them find nothing. If not, they have to be asked.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_as_recounted(&self) -> Result<bool, StoreError> {
        let recounted = recount(&self.connection, &self.lock_wait.stop);
        match recounted {
            Ok(()) => Ok(true),
            Err(Doubt::Unexpected) => Ok(false),
            Err(Doubt::Sqlite(error)) if is_of_content(&error) => Ok(false),
            Err(Doubt::Sqlite(error)) => Err(self.failed(error)),
        }
    }

    /// Views of ours with another text, which are replaced wherever the file may be written.
    fn foreign_views(&self) -> Result<Option<Finding>, StoreError> {
        let stale = stale_views(&self.connection).map_err(|source| self.failed(source))?;
        let examples: Vec<_> = stale
            .iter()
            .map(|(name, _)| format!("{name} differs from the schema of profdb"))
            .collect();
        Ok((!examples.is_empty()).then_some(Finding {
            check: "views",
            count: examples.len(),
            examples,
        }))
    }

    /// Values of our tables that should be text and are not.
    fn wrong_texts(&self, of: impl Fn(&str) -> bool) -> Result<Option<Finding>, StoreError> {
        self.collected("texts", |finding| {
            texts::each_wrong(&self.connection, of, |wrong| finding.add(|| Ok(wrong)))
        })
    }

    /// Identities and fingerprints that are not as the rules of the database make them.
    fn wrong_identities(&self) -> Result<Option<Finding>, StoreError> {
        self.collected("identities", |finding| {
            identities::each_wrong(&self.connection, |wrong| finding.add(|| Ok(wrong)))
        })
    }

    /// Runs whose `recorded_utc` is not their `recorded_at`.
    fn wrong_dates(&self) -> Result<Option<Finding>, StoreError> {
        self.collected("dates", |finding| {
            dates::each_wrong(&self.connection, |wrong| finding.add(|| Ok(wrong)))
        })
    }

    /// Runs the bundled statements that find no row in a database that is consistent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn broken_rules(&self) -> Result<Vec<Finding>, StoreError> {
        self.broken_rules_of(|_| true)
    }

    /// Runs those of the statements whose name is wanted.
    fn broken_rules_of(
        &self,
        is_wanted: impl Fn(&'static str) -> bool,
    ) -> Result<Vec<Finding>, StoreError> {
        let found: Result<Vec<_>, _> = CHECKS
            .iter()
            .filter(|(name, _)| is_wanted(name))
            .map(|(name, sql)| self.found(name, sql, columns))
            .collect();
        Ok(found?.into_iter().flatten().collect())
    }

    fn found(
        &self,
        check: &'static str,
        sql: &str,
        show: fn(&Row<'_>) -> rusqlite::Result<String>,
    ) -> Result<Option<Finding>, StoreError> {
        self.collected(check, |finding| {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                finding.add(|| show(row))?;
            }
            Ok(())
        })
    }

    /// What a search finds. Content that cannot be read is a finding, too.
    fn collected(
        &self,
        check: &'static str,
        find: impl FnOnce(&mut Finding) -> rusqlite::Result<()>,
    ) -> Result<Option<Finding>, StoreError> {
        let mut finding = Finding {
            check,
            count: 0,
            examples: Vec::new(),
        };
        match find(&mut finding) {
            Err(error) if is_of_content(&error) => {
                finding.count += 1;
                finding.examples.push(error.to_string());
            }
            found => found.map_err(|source| self.failed(source))?,
        }
        Ok((finding.count > 0).then_some(finding))
    }
}

impl Finding {
    /// Counts one more, and asks `show` for its text if it is one of the first.
    fn add(&mut self, show: impl FnOnce() -> rusqlite::Result<String>) -> rusqlite::Result<()> {
        if self.count < EXAMPLES {
            self.examples.push(show()?);
        }
        self.count += 1;
        Ok(())
    }
}

/// Whether the content of the file is the reason for an error, and not the system.
fn is_of_content(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(
            code,
            ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::TooBig
                | ErrorCode::TypeMismatch
                | ErrorCode::Unknown
        ),
        // A value is of another type than its column.
        None => true,
    }
}

/// The columns of a row as text, with their names.
fn columns(row: &Row<'_>) -> rusqlite::Result<String> {
    let names = row.as_ref().column_names();
    let column = |(at, name)| {
        Ok(format!(
            "{name} {}",
            lossy(row.get_ref(at)?).as_deref().unwrap_or("NULL")
        ))
    };
    Ok(names
        .into_iter()
        .enumerate()
        .map(column)
        .collect::<rusqlite::Result<Vec<_>>>()?
        .join(", "))
}
