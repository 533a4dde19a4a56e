//! Deleting the runs of a set, all but the newest of each group.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::choose::{ChooseError, Chosen, all, choose, members, unknown_key};
use super::set::RunSet;
use crate::source::Stopped;
use crate::store::database::Database;
use crate::store::error::StoreError;

/// Which runs are to be deleted.
#[derive(Clone, Debug)]
pub struct Deletion {
    /// Of these runs; of all, if none are named.
    pub set: Option<RunSet>,
    /// But not these.
    pub keep: Option<Keep>,
}

/// Runs that stay.
#[derive(Clone, Debug)]
pub struct Keep {
    /// So many of each group: those that were imported last.
    pub newest: u64,
    /// Keys of tags: runs with equal values of all of them, or without one, are a group.
    pub per: Vec<String>,
}

impl Database {
    /// The runs that are to be deleted now, in the order in which they were imported. There may be
    /// none, if as many are kept as there are.
    ///
    /// # Errors
    /// When there are no runs to delete from, or no run has a tag by which they are grouped; and when
    /// the database cannot be read.
    pub fn to_delete(&self, deletion: &Deletion) -> Result<Vec<i64>, ChooseError> {
        let chosen = to_delete(&self.connection, deletion).map_err(|source| self.failed(source))?;
        chosen.map_err(ChooseError::from)
    }

    /// Deletes runs, each in a transaction of its own, as far as they are to be deleted when their
    /// turn comes: another program may have tagged or deleted runs since they were listed. `tell` is
    /// called after each with whether it was deleted.
    ///
    /// # Errors
    /// When the database cannot be written: then the runs of which `tell` knows are gone, the others
    /// are there.
    pub fn delete_runs(
        &mut self,
        runs: &[i64],
        deletion: &Deletion,
        tell: &mut dyn FnMut(i64, bool),
    ) -> Result<(), StoreError> {
        let mut left: Option<(i64, Vec<i64>)> = None;
        for &run in runs {
            if self.is_stopped() {
                return Err(Stopped.into());
            }
            let deleted = self.delete_run_if(run, |connection| {
                // The number changes with what other programs commit, not with what is done here.
                let now = connection.query_row("PRAGMA data_version", [], |row| row.get(0))?;
                let chosen = match left.take() {
                    Some((then, chosen)) if then == now => chosen,
                    _ => left_to_delete(connection, deletion)?,
                };
                let (_, chosen) = left.insert((now, chosen));
                Ok(chosen.binary_search(&run).is_ok())
            })?;
            tell(run, deleted);
        }
        Ok(())
    }
}

fn to_delete(connection: &Connection, deletion: &Deletion) -> rusqlite::Result<Chosen> {
    let runs = match &deletion.set {
        Some(set) => match choose(connection, set)? {
            Ok(runs) => runs,
            none => return Ok(none),
        },
        None => all(connection)?,
    };
    for key in deletion.keep.iter().flat_map(|keep| &keep.per) {
        if let Some(unknown) = unknown_key(connection, key)? {
            return Ok(Err(unknown));
        }
    }
    but_kept(connection, runs, deletion).map(Ok)
}

/// What is to be deleted of what is left, when runs have been deleted already.
fn left_to_delete(connection: &Connection, deletion: &Deletion) -> rusqlite::Result<Vec<i64>> {
    let runs = match &deletion.set {
        Some(set) => members(connection, set)?,
        None => all(connection)?,
    };
    but_kept(connection, runs, deletion)
}

/// These runs but those that are kept.
fn but_kept(
    connection: &Connection,
    runs: Vec<i64>,
    deletion: &Deletion,
) -> rusqlite::Result<Vec<i64>> {
    let Some(Keep { newest, per }) = &deletion.keep else {
        return Ok(runs);
    };
    let mut value =
        connection.prepare("SELECT value FROM run_tags WHERE run_id = ?1 AND key = ?2")?;
    let mut kept: HashMap<Vec<Option<String>>, u64> = HashMap::new();
    let mut chosen = Vec::new();
    for run in runs.into_iter().rev() {
        let group = per
            .iter()
            .map(|key| {
                let value = value.query_row(params![run, key], |row| row.get(0));
                value.optional()
            })
            .collect::<rusqlite::Result<Vec<Option<String>>>>()?;
        let kept = kept.entry(group).or_default();
        if *kept < *newest {
            *kept += 1;
        } else {
            chosen.push(run);
        }
    }
    chosen.reverse();
    Ok(chosen)
}
