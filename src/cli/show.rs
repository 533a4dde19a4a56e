//! `profdb show [SET]`

use clap::{Args, ValueHint};

use super::args::run_set;
use super::database::DatabaseArgs;
use super::failure::Failure;
use super::inputs::Inputs;
use super::output::ListArgs;
use super::source::{file, open_run};
use super::state::ONE_STATE;
use super::state::tell;
use crate::base::error::Stop;
use crate::formats::Options;
use crate::store::RunSet;

#[derive(Debug, Args)]
pub(super) struct Show {
    /// Run: latest, number, KEY=VALUE, uid, title or file
    ///
    /// A run is named by `latest`, its number, `last 1`, tags such as `branch=main` or
    /// `branch=main last 1`, the first 4 or more characters of a uid, a title, or a file. [default: latest]
    #[arg(value_name = "SET", value_parser = run_set(), value_hint = ValueHint::FilePath)]
    set: Option<RunSet>,
    /// Alias of SET
    #[arg(long, value_name = "SET", value_parser = run_set(), conflicts_with = "set")]
    run: Option<RunSet>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(show: &Show, stop: &Stop) -> Result<(), Failure> {
    let set = show.set.as_ref().or(show.run.as_ref());
    let set = set.unwrap_or(&RunSet::Latest);
    let inputs = Inputs::of(&show.database).with_files(file(set), None);
    let target = show.list.target(&inputs)?;
    let options = Options::default();
    let (source, run) = open_run(set, &show.database, None, &options, ONE_STATE, stop)?;
    tell(&source, &run, &show.list, &target, stop)
}
