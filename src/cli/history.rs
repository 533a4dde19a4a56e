//! `profdb history [FN]`

use clap::Args;

use super::args::run_set;
use super::database::{DatabaseArgs, open_to_read};
use super::failure::{Failure, complain, database as failed, say, unchosen};
use super::output::{OutputArgs, print};
use crate::base::error::Stop;
use crate::history::series::KEYS;
use crate::history::{HistoryError, Series, answer, history, series};
use crate::store::{Database, Fitting, RunSet, Tag};

#[derive(Debug, Args)]
pub(super) struct History {
    /// A function; * and ? fit any text and any character, and a name in quotes is one whatever it has
    /// [default: the whole run]
    #[arg(value_name = "FN")]
    function: Option<String>,
    #[command(flatten)]
    series: SeriesArgs,
    /// What to count [default: the choice of the last run]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// What FN is the name of, and what is added up: function, module or file
    #[arg(long, value_name = "WORD", default_value = "function", value_parser = by)]
    by: Fitting,
    #[command(flatten)]
    output: OutputArgs,
}

/// Which runs, and which of them are a series.
#[derive(Debug, Args)]
pub(super) struct SeriesArgs {
    /// Only these runs: numbers, KEY=VALUE,... of their tags, or a title [default: all]
    #[arg(long = "where", visible_alias = "run", value_name = "SET", value_parser = run_set())]
    filter: Option<RunSet>,
    /// What runs of one series have in common: keys of tags, or title (else the command), command, format
    /// and `tool_version`
    #[arg(long = "series", value_name = "KEY,...", default_value = KEYS.join(","), value_parser = keys)]
    keys: Keys,
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// Keys of a series, as one argument has them.
#[derive(Clone, Debug)]
struct Keys(Vec<String>);

fn keys(text: &str) -> Result<Keys, String> {
    Tag::keys(text).map(Keys).map_err(|error| error.to_string())
}

fn by(text: &str) -> Result<Fitting, String> {
    [Fitting::Function, Fitting::Module, Fitting::File]
        .into_iter()
        .find(|by| by.name() == text)
        .ok_or_else(|| "expected function, module or file".to_owned())
}

impl SeriesArgs {
    /// The series with the run that was imported last, and what there is to say of others.
    pub(super) fn latest(
        &self,
        source: &Database,
        stop: &Stop,
    ) -> Result<(Series, Option<String>), Failure> {
        let runs = self.filter.as_ref().map(|set| source.choose(set));
        let runs = runs.transpose().map_err(|error| unchosen(error, stop))?;
        let keys: Vec<&str> = self.keys.0.iter().map(String::as_str).collect();
        let all = series(source, runs.as_deref(), &keys).map_err(|error| failed(error, stop))?;
        let others = all.len().saturating_sub(1);
        let Some(latest) = all.into_iter().next() else {
            return Err(complain(
                "the database has no runs",
                Failure::NothingSelected,
            ));
        };
        let key = latest.key.iter();
        let key: Vec<String> = key.map(|(key, value)| format!("{key}={value}")).collect();
        let are = match others {
            0 => return Ok((latest, None)),
            1 => "is one other series".to_owned(),
            _ => format!("are {others} others"),
        };
        let said = format!(
            "shown is the series of the latest run ({}); there {are}: --where chooses runs, --series what they have in common",
            key.join(", ")
        );
        Ok((latest, Some(said)))
    }
}

/// Reports why there is no history.
pub(super) fn without(error: HistoryError, stop: &Stop) -> Failure {
    match error {
        HistoryError::Usage(message) => complain(message, Failure::Usage),
        HistoryError::NothingSelected(message) => complain(message, Failure::NothingSelected),
        HistoryError::Store(error) => failed(error, stop),
    }
}

pub(super) fn run(asked: &History, stop: &Stop) -> Result<(), Failure> {
    let target = asked.output.target(&asked.series.database.path())?;
    let layout = asked.output.layout(None, Vec::new());
    layout
        .check(true)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let source = open_to_read(&asked.series.database, stop)?;
    let (series, others) = asked.series.latest(&source, stop)?;
    let name = asked.function.as_deref().map(|name| (asked.by, name));
    let found = history(&source, series, asked.metric.as_deref(), name);
    let found = found.map_err(|error| without(error, stop))?;
    others.iter().for_each(say);
    if !found.measured.left_out.is_empty() {
        let runs: Vec<String> = found.measured.left_out.iter().map(i64::to_string).collect();
        say(format!(
            "left out, for want of the metric {} in {}: runs {}",
            found.measured.metric,
            found.measured.unit,
            runs.join(", ")
        ));
    }
    let mut answer = answer(&source, &found);
    print(&mut answer, &layout, &target, stop)
}
