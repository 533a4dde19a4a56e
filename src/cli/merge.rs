//! `profdb merge INTO FROM...`

use std::path::PathBuf;

use clap::Args;

use super::database::{WaitArgs, lock_wait};
use super::extent::extent;
use super::failure::{Failure, complain, database, line, say};
use super::progress::Progress;
use crate::base::error::Stop;
use crate::base::limits;
use crate::store::{Database, Merged, Outcome, StoreError, remove_abandoned};

#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Database to copy the runs to; created if missing
    #[arg(value_name = "INTO")]
    into: PathBuf,
    /// Databases to copy the runs from
    #[arg(required = true, value_name = "FROM")]
    from: Vec<PathBuf>,
    #[command(flatten)]
    wait: WaitArgs,
}

/// Merges all runs of all databases, or none. A run that is there already, by content and by the
/// title and tags that it was imported with, is not stored again, but gets the tags that it lacks.
pub(super) fn run(merge: &Merge, stop: &Stop) -> Result<(), Failure> {
    let failed = |error| match database(error, stop) {
        Failure::Interrupted if !limits::is_memory_out() => {
            complain("interrupted, nothing merged", Failure::Interrupted)
        }
        failure => failure,
    };
    let progress = Progress::new("checking");
    let mut sources = Vec::new();
    for path in &merge.from {
        let opened = Database::open_source(path, &lock_wait(stop));
        let mut source = opened.map_err(|error| match error {
            StoreError::Missing(path) => {
                let message = format!("the database {} does not exist", path.display());
                complain(message, Failure::Database)
            }
            error => failed(error),
        })?;
        source.heed(stop.clone()).map_err(failed)?;
        sources.push(source);
    }
    // The sources are open by now: one that cannot be opened changes nothing in the folder.
    remove_abandoned(&merge.into);
    let mut target =
        Database::open_waiting(&merge.into, merge.wait.lock_wait(stop)).map_err(failed)?;
    target.heed(stop.clone()).map_err(failed)?;
    let merged = target.merge(&sources, &mut |rows| {
        progress.says(format!("merging, {rows} rows"));
    });
    drop(progress);
    let merged = merged.map_err(failed)?;
    let ours = target.identity_digest().map_err(failed)?;
    for (at, path) in merge.from.iter().enumerate() {
        let is_stored =
            |merged: &Merged| merged.source == at && matches!(merged.outcome, Outcome::Stored(_));
        if merged.iter().any(is_stored) && sources[at].identity_digest().map_err(failed)? != ours {
            say(format!(
                "{}: its function identities were computed by other rules, and are now computed by those of {}",
                path.display(),
                merge.into.display()
            ));
        }
    }
    for Merged {
        source,
        run,
        outcome,
        nodes,
        added,
        refused,
    } in merged
    {
        let name = merge.from[source].display();
        match outcome {
            Outcome::Stored(new) => {
                let extent = extent(&target, new, nodes.unsigned_abs()).map_err(failed)?;
                line(format!("{name}: run {run} is now run {new}, {extent}"))?;
            }
            Outcome::AlreadyThere(there) => {
                let added = list("; added to it: ", &added);
                let refused = list("; not added because of another value: ", &refused);
                say(format!(
                    "{name}: run {run} is already stored as run {there}{added}{refused}"
                ));
            }
        }
    }
    Ok(())
}

/// What is said of a run, after what introduces it; empty if nothing is.
fn list(introduction: &str, said: &[String]) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!("{introduction}{}", said.join(", "))
    }
}
