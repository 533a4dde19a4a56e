//! `profdb delete [SET]`

use clap::{ArgGroup, Args};

use super::args::{Keys, run_set, tag_keys};
use super::database::{DatabaseArgs, WaitArgs, is_of_runs, open_to_change};
use super::failure::{Failure, database, line, say, unchosen};
use crate::base::error::Stop;
use crate::store::{Deletion, Keep, RunSet};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).multiple(true))]
pub(super) struct Delete {
    /// Runs to delete; all but numbers need --yes
    ///
    /// Runs are named by `latest`, numbers such as `1,2,3`, `last 20`, tags such as `branch=main` or
    /// `branch=main last 20`, the first 4 or more characters of a uid, or a title. Runs that are named by number are deleted at once. Others are listed, and
    /// deleted with --yes.
    #[arg(value_name = "SET", group = "which", value_parser = run_set())]
    runs: Option<RunSet>,
    /// Alias of SET; lists the runs unless --yes is given
    #[arg(long = "where", visible_alias = "run", value_name = "SET", group = "which", conflicts_with = "runs", value_parser = run_set())]
    filter: Option<RunSet>,
    /// Keep the newest N of the selected runs, or of each group
    ///
    /// Without SET, all runs are selected. --per forms the groups.
    #[arg(long, value_name = "N", group = "which", value_parser = kept)]
    keep: Option<u64>,
    /// With --keep: group runs by the values of these tags
    #[arg(long, value_name = "KEY,...", requires = "keep", value_parser = tag_keys)]
    per: Option<Keys>,
    /// Delete the runs instead of listing them
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

/// Reads a number of runs. To keep none is to delete all, which is said without `--keep`.
fn kept(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a number of runs, from 1".to_owned())
}

pub(super) fn run(delete: &Delete, stop: &Stop) -> Result<(), Failure> {
    let failed = |error| database(error, stop);
    let keep = delete.keep.map(|newest| Keep {
        newest,
        per: delete.per.clone().map_or_else(Vec::new, |Keys(per)| per),
    });
    let deletion = Deletion {
        set: delete.runs.clone().or_else(|| delete.filter.clone()),
        keep,
    };
    is_of_runs(deletion.set.as_ref())?;
    let mut target = open_to_change(&delete.database, &delete.wait, stop)?;
    let runs = target.to_delete(&deletion);
    let runs = runs.map_err(|error| unchosen(error, stop))?;
    let mut heads = Vec::new();
    for run in &runs {
        heads.push(target.run_head(*run).map_err(failed)?);
    }
    let count = match runs.len() {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    // Who writes numbers, and nothing that the database has to say first, knows which runs go.
    let is_certain = matches!(delete.runs, Some(RunSet::Numbers(_))) && delete.keep.is_none();
    if !(delete.yes || is_certain) {
        heads.iter().try_for_each(line)?;
        say(match runs.len() {
            0 => "0 runs to delete: --keep keeps all of them".to_owned(),
            _ => format!("{count} to delete; --yes deletes the listed runs"),
        });
        return Ok(());
    }
    let mut said = Ok(());
    let mut heads = heads.iter();
    let deleted = target.delete_runs(&runs, &deletion, &mut |run, is_deleted| {
        let name = heads.next().map_or("", |head| &head.name);
        if !is_deleted {
            say(format!(
                "run {run} was not deleted: another program changed the runs meanwhile"
            ));
        } else if said.is_ok() {
            said = line(format!("deleted run {run}: {name}"));
        }
    });
    deleted.map_err(failed)?;
    said
}
