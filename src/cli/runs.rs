//! `profdb runs`

use clap::Args;

use super::args::run_set;
use super::database::{DatabaseArgs, is_of_runs, open_to_read};
use super::failure::{Failure, complain, database as failed, say, unanswered, unchosen};
use super::inputs::Inputs;
use super::output::{ListArgs, print};
use crate::base::error::Stop;
use crate::report::render::Format;
use crate::report::{Reader, run_list};
use crate::store::RunSet;

#[derive(Debug, Args)]
pub(super) struct Runs {
    /// Only these runs: latest, 1,2,3, last N, KEY=VALUE, uid, title
    ///
    /// Runs are named by `latest`, numbers such as `1,2,3`, `last 20`, tags such as `branch=main` or
    /// `branch=main last 20`, the first 4 or more characters of a uid, or a title.
    #[arg(value_name = "SET", value_parser = run_set())]
    set: Option<RunSet>,
    /// Alias of SET
    #[arg(long = "where", visible_alias = "run", value_name = "SET", value_parser = run_set(), conflicts_with = "set")]
    filter: Option<RunSet>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(runs: &Runs, stop: &Stop) -> Result<(), Failure> {
    let target = runs.list.target(&Inputs::of(&runs.database))?;
    let layout = runs.list.layout();
    layout
        .check(false)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let set = runs.set.as_ref().or(runs.filter.as_ref());
    is_of_runs(set)?;
    let database = open_to_read(&runs.database, stop)?;
    let chosen = set.map(|set| database.choose(set));
    let chosen = chosen.transpose().map_err(|error| unchosen(error, stop))?;
    let reader = match layout.format {
        Format::Text | Format::Markdown if runs.list.is_wide() => Reader::PersonWithRoom,
        Format::Text | Format::Markdown => Reader::Person,
        _ => Reader::Program,
    };
    let answer = run_list(&database, chosen.as_deref(), reader);
    let mut answer = answer.map_err(|error| unanswered(error, stop))?;
    answer.remarks.iter().for_each(say);
    let any = database.run(None).map_err(|error| failed(error, stop))?;
    if any.is_none() {
        say("the database has no runs");
    }
    print(&mut answer, &layout, &target, stop)
}
