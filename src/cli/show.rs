//! `profdb show [RUN]`

use clap::Args;

use super::database::{DatabaseArgs, find_run, open_to_read};
use super::failure::Failure;
use super::output::tell;
use crate::base::error::Stop;

#[derive(Debug, Args)]
pub(super) struct Show {
    /// Number, title or tag of the run [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) fn run(show: &Show, stop: &Stop) -> Result<(), Failure> {
    let source = open_to_read(&show.database, stop)?;
    let run = find_run(&source, show.run.as_deref(), stop)?;
    tell(&source, &run, stop)
}
