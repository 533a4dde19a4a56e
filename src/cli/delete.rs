//! `profdb delete RUN`

use clap::Args;

use super::database::{DatabaseArgs, WaitArgs, find_run};
use super::failure::{Failure, complain, database, line};
use super::progress::Progress;
use crate::base::error::Stop;
use crate::store::{Database, StoreError};

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// Number of the run
    #[arg(value_name = "RUN")]
    run: i64,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(delete: &Delete, stop: &Stop) -> Result<(), Failure> {
    let path = delete.database.path();
    if !path.exists() {
        return Err(complain(StoreError::Missing(path), Failure::Database));
    }
    let failed = |error| database(error, stop);
    let progress = Progress::new("deleting");
    let mut target = Database::open_waiting(&path, delete.wait.lock_wait(stop)).map_err(failed)?;
    target
        .watch(stop.clone(), progress.tick())
        .map_err(failed)?;
    let run = find_run(&target, Some(&delete.run.to_string()), stop)?;
    if run.run_id != delete.run {
        // A title that looks like a number is no reason to delete another run.
        return Err(complain(
            format!("there is no run {}: see profdb runs", delete.run),
            Failure::NothingSelected,
        ));
    }
    let deleted = target.delete_run(run.run_id);
    drop(progress);
    deleted.map_err(failed)?;
    line(format!("deleted run {}: {}", run.run_id, run.name))
}
