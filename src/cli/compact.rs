//! `profdb compact`

use clap::Args;

use super::database::{DatabaseArgs, WaitArgs};
use super::failure::{Failure, complain, database, line};
use crate::base::error::Stop;
use crate::base::limits;
use crate::store::{Compacted, Database, remove_abandoned};

#[derive(Debug, Args)]
pub(super) struct Compact {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(compact: &Compact, stop: &Stop) -> Result<(), Failure> {
    let path = compact.database.path();
    let failed = |error| match database(error, stop) {
        Failure::Interrupted if !limits::is_memory_out() => {
            complain("interrupted, nothing changed", Failure::Interrupted)
        }
        failure => failure,
    };
    if path.exists() {
        remove_abandoned(&path);
    }
    let opened = Database::open_to_change(&path, compact.wait.lock_wait(stop));
    let mut target = opened.map_err(failed)?;
    target.heed(stop.clone()).map_err(failed)?;
    let compacted = target.compact();
    let Compacted { before, after } = compacted.map_err(failed)?;
    line(format!(
        "{}: {before} bytes before, {after} bytes now",
        path.display()
    ))
}
