//! Merging: copies runs of other databases into one. A run is known by its `run_uid`, so that a run
//! that both have is one.
//!
//! The other database may be a stranger's, and is not trusted: its tables have to be those that
//! this program makes, so that reading them runs no code of its own, and it has to pass every check
//! before a run is copied out of it.
//!
//! Long runs go into a segment, as those that are imported do, and are appended to the database at
//! the end, all at once (docs/design/0008-later-runs.md).

mod copy;
mod differences;
mod large_tables;
mod tables;

use rusqlite::Connection;

use super::database::Database;
use super::error::StoreError;
use super::identities;
use super::identity::{RunMeta, run_with_uid};
use super::schema::migrate;
use super::write::{CopiedRows, Ids, Outcome, ROWS_FOR_SEGMENT, integer};
use copy::{RunCopy, TargetIdentities};
use differences::Differences;

/// What became of a run of another database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Which of the databases it is from.
    pub source: usize,
    /// Its number there.
    pub run: i64,
    /// Its number here, and whether it is new.
    pub outcome: Outcome,
    /// Its nodes.
    pub nodes: i64,
    /// What is said of it there and now here, too, if the run was there already: `KEY=VALUE` of
    /// tags, or a title.
    pub added: Vec<String>,
    /// What is said of it there, where another value is said here, which stays.
    pub refused: Vec<String>,
}

impl Database {
    /// Adds the runs of other databases that this one lacks, all of them or, on error, none.
    /// `progress` is called with the number of rows so far.
    ///
    /// # Errors
    /// When one of the others is not sound or cannot be read, or this one not be written.
    pub fn merge(
        &mut self,
        sources: &[Self],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Merged>, StoreError> {
        loop {
            match self.merge_once(sources, progress) {
                // Another program has made the database meanwhile.
                Err(error) if error.is_there_by_now() => {
                    *self = self.opened_anew()?;
                }
                merged => return merged,
            }
        }
    }

    fn merge_once(
        &mut self,
        sources: &[Self],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Merged>, StoreError> {
        self.begin()?;
        let mut pages = None;
        let merged =
            self.merge_all(sources, &mut pages, progress)
                .and_then(|(merged, has_changed)| {
                    if has_changed {
                        self.append_and_commit(pages)?;
                    } else {
                        self.is_in_place()?;
                    }
                    Ok(merged)
                });
        // A new file without a run does not get its name: only what has been committed is
        // published.
        let is_changed = self.connection.is_autocommit();
        self.end();
        let merged = merged?;
        if is_changed {
            self.forget_pages()?;
            self.publish()?;
        }
        Ok(merged)
    }

    /// Ends the transaction, with the rows that wait in pages, if there are any.
    fn append_and_commit(&self, pages: Option<CopiedRows>) -> Result<(), StoreError> {
        if let Some(pages) = pages {
            pages.append_to(self)?;
        }
        self.commit()
    }

    /// Pages for the rows of a run, if it is long enough to be worth them, or the run before was:
    /// what comes after those rows has to be in pages, too. `None` also where pages cannot be
    /// appended to the database.
    fn begin_pages(&self, pages: &mut Option<CopiedRows>, nodes: i64) -> Result<(), StoreError> {
        if pages.is_some() || nodes < integer(ROWS_FOR_SEGMENT) {
            return Ok(());
        }
        let Some(place) = self.place() else {
            return Ok(());
        };
        let begun = CopiedRows::new(&self.connection, &place);
        *pages = begun.map_err(|cause| self.failed(cause))?;
        Ok(())
    }

    /// Copies the one run of a new file into the database that another program has put under its
    /// name meanwhile, and opens that instead.
    pub(in crate::store) fn add_to_what_is_there(
        &mut self,
        meta: &RunMeta,
    ) -> Result<Outcome, StoreError> {
        let mut there = self.opened_anew()?;
        let mut repeat = 0;
        loop {
            let merged = there.merge(std::slice::from_ref(self), &mut |_| ())?;
            let [Merged { outcome, .. }] = merged[..] else {
                return Err(self.inconsistent("expected one run in a new file"));
            };
            if meta.again && matches!(outcome, Outcome::AlreadyThere(_)) {
                repeat += 1;
                let renamed = self
                    .connection
                    .execute("UPDATE runs SET run_uid = ?1", [meta.uid(repeat)]);
                renamed.map_err(|source| self.failed(source))?;
                continue;
            }
            *self = there;
            return Ok(outcome);
        }
    }

    /// What became of all runs, and whether anything has changed by that.
    fn merge_all(
        &self,
        sources: &[Self],
        pages: &mut Option<CopiedRows>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Vec<Merged>, bool), StoreError> {
        migrate(&self.connection).map_err(|cause| self.failed(cause))?;
        let rules = identities::rules(&self.connection).map_err(|cause| self.failed(cause))?;
        let mut merged = Vec::new();
        let mut has_changed = false;
        let mut rows = 0;
        for (at, source) in sources.iter().enumerate() {
            let from_source = |error| source.failed(error);
            // One transaction, so that what is read is what has been checked.
            let _reading = source
                .connection
                .unchecked_transaction()
                .map_err(from_source)?;
            let theirs = identities::digest(&source.connection).map_err(from_source)?;
            let target = TargetIdentities {
                rules: &rules,
                are_other: theirs != Some(rules.digest()),
            };
            let mut is_checked = false;
            for (run, uid, nodes) in runs(&source.connection).map_err(from_source)? {
                let there =
                    run_with_uid(&self.connection, &uid).map_err(|error| self.failed(error))?;
                let differences = match there {
                    Some(there) => self.differences(there, source, run)?,
                    None => Differences::default(),
                };
                if !is_checked && (there.is_none() || !differences.is_empty()) {
                    source.is_sound()?;
                    is_checked = true;
                }
                let outcome = if let Some(there) = there {
                    has_changed |= self
                        .unite(there, &differences)
                        .map_err(|error| self.failed(error))?;
                    Outcome::AlreadyThere(there)
                } else {
                    has_changed = true;
                    let ids = Ids::after(&self.connection).map_err(|error| self.failed(error))?;
                    self.begin_pages(pages, nodes)?;
                    let mut copy = RunCopy::new((source, self), target, &ids, run, rows, progress)?;
                    let stored = copy.run(pages.as_mut())?;
                    rows = copy.rows;
                    Outcome::Stored(stored)
                };
                let (added, refused) = (differences.added(), differences.refused());
                merged.push(Merged {
                    source: at,
                    run,
                    outcome,
                    nodes,
                    added,
                    refused,
                });
            }
        }
        Ok((merged, has_changed))
    }

    /// Fails unless the database has the current tables and views, which the checks read, and passes all checks.
    fn is_sound(&self) -> Result<(), StoreError> {
        if !self.is_current()? {
            return Err(StoreError::NotCurrent {
                path: self.path.clone(),
            });
        }
        match self.check()?.len() {
            0 => Ok(()),
            findings => Err(StoreError::Unsound {
                path: self.path.clone(),
                findings,
            }),
        }
    }
}

/// The runs of a database: id, uid, number of nodes.
fn runs(connection: &Connection) -> rusqlite::Result<Vec<(i64, String, i64)>> {
    let sql =
        "SELECT run_id, run_uid, COALESCE(last_node - first_node + 1, 0) FROM runs ORDER BY run_id";
    let mut statement = connection.prepare(sql)?;
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}
