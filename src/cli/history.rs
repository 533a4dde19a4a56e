//! `profdb history [FN]`, or `profdb history --fn FN`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::args::run_set;
use super::database::{DatabaseArgs, open_to_read};
use super::diff::{effect, probability};
use super::failure::{Failure, complain, database as failed, say, unchosen};
use super::inputs::Inputs;
use super::output::{OutputArgs, print};
use super::page::{HtmlArgs, untold, without_page};
use super::sides::{noise, normalize};
use crate::base::error::Stop;
use crate::compare::Normalize;
use crate::compare::order::{KEYS, UNTAGGED};
use crate::events::Noise;
use crate::history::reading::{Measured, measured, subjects};
use crate::history::steps::{Request, of_history, with_steps};
use crate::history::{HistoryError, Series, answer, history, series};
use crate::page::{Content, Told};
use crate::store::{Database, Fitting, RunSet, Tag};
use crate::text::nearest::some;

#[derive(Debug, Args)]
pub(super) struct History {
    /// Function; * and ? are wildcards [default: the whole run]
    ///
    /// NAME, NAME (PLACE) as other commands print it, `FILE:NAME`, `NAME:LINE` or `FILE:LINE`. A name in quotes matches literally.
    #[arg(value_name = "FN", value_parser = NonEmptyStringValueParser::new())]
    function: Option<String>,
    /// Function, as the argument FN
    #[arg(long = "fn", value_name = "FN", conflicts_with = "function", value_parser = NonEmptyStringValueParser::new())]
    named: Option<String>,
    #[command(flatten)]
    series: SeriesArgs,
    /// Metric to show
    ///
    /// [default: the default metric of the last run]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Type of FN: function, module or file
    #[arg(long, value_name = "WORD", default_value = "function", value_parser = by)]
    by: Fitting,
    /// Also print the steps, or the smallest detectable change
    #[arg(long)]
    steps: bool,
    #[command(flatten)]
    search: SearchArgs,
    /// Divide costs by total, median, calls or tag:KEY
    ///
    /// `total` shows shares of the total. `median` removes a factor that most of the cost has in
    /// common, such as a slower machine. `tag:KEY` divides by the number in a tag.
    #[arg(long, value_name = "BY", default_value = "none", value_parser = normalize)]
    normalize: Normalize,
    #[command(flatten)]
    html: HtmlArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// How steps are searched.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Noise model: exact, timed, sampled or unknown
    ///
    /// How costs vary between recordings of an unchanged program. [default: as stored in the runs]
    #[arg(long, value_name = "KIND", value_parser = noise)]
    noise: Option<Noise>,
    /// Smallest relevant change, in percent [default: 5]
    #[arg(long, value_name = "N", value_parser = effect)]
    min_effect: Option<f64>,
    /// False discovery rate of steps [default: 0.05]
    ///
    /// Confidence intervals have the level 1 - P.
    #[arg(long, value_name = "P", value_parser = probability)]
    alpha: Option<f64>,
}

impl SearchArgs {
    /// Whether anything is said here.
    fn is_given(&self) -> bool {
        self.noise.is_some() || self.min_effect.is_some() || self.alpha.is_some()
    }

    /// What is asked, with what is said here.
    pub(super) fn request(&self) -> Request {
        let usual = Request::default();
        Request {
            noise: self.noise,
            alpha: self.alpha.unwrap_or(usual.alpha),
            min_effect: self
                .min_effect
                .map_or(usual.min_effect, |percent| percent / 100.0),
            ..usual
        }
    }
}

/// Which runs, and which of them are a series.
#[derive(Debug, Args)]
pub(super) struct SeriesArgs {
    /// Only these runs: 1,2,3, last N, KEY=VALUE or a title
    #[arg(long = "where", visible_alias = "run", value_name = "SET", value_parser = run_set())]
    filter: Option<RunSet>,
    /// Keys with equal values in all runs of a series
    ///
    /// Keys of tags, or title (the command of runs without one), command, format and
    /// `tool_version`.
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

pub(super) fn by(text: &str) -> Result<Fitting, String> {
    [Fitting::Function, Fitting::Module, Fitting::File]
        .into_iter()
        .find(|by| by.name() == text)
        .ok_or_else(|| "expected function, module or file".to_owned())
}

impl SeriesArgs {
    /// Returns the series with the run that was imported last, and the other series.
    pub(super) fn latest(
        &self,
        source: &Database,
        stop: &Stop,
    ) -> Result<(Series, Vec<Series>), Failure> {
        let runs = self.filter.as_ref().map(|set| source.choose(set));
        let runs = runs.transpose().map_err(|error| unchosen(error, stop))?;
        let keys: Vec<&str> = self.keys.0.iter().map(String::as_str).collect();
        for key in &keys {
            // What runs have in common unless it is asked for, none of them needs to have.
            if !KEYS.contains(key) && !UNTAGGED.contains(key) {
                source.is_key(key).map_err(|error| unchosen(error, stop))?;
            }
        }
        let mut all =
            series(source, runs.as_deref(), &keys).map_err(|error| failed(error, stop))?;
        if all.is_empty() {
            return Err(complain(
                "the database has no runs",
                Failure::NothingSelected,
            ));
        }
        let latest = all.remove(0);
        Ok((latest, all))
    }
}

/// Maximum number of series that a message examines for a function: each may have many runs.
const MAX_SERIES: usize = 20;

/// Says that there are other series, by what they do not have in common with the shown one, and which of them have functions,
/// modules or files of a name.
pub(super) fn say_others(
    source: &Database,
    shown: &Series,
    others: &[Series],
    metric: Option<&str>,
    name: Option<(Fitting, &str)>,
) {
    if others.is_empty() {
        return;
    }
    let pair = |(key, value): &(String, String)| format!("{key}={value}");
    let own: Vec<String> = shown.key.iter().map(pair).collect();
    let key_of = |other: &Series| {
        let different = other.key.iter().filter(|pair| !shown.key.contains(pair));
        different.map(pair).collect::<Vec<String>>().join(", ")
    };
    let number = match others.len() {
        1 => "is another series".to_owned(),
        count => format!("are {count} other series"),
    };
    let listed = match name {
        None => some(&others.iter().map(key_of).collect::<Vec<String>>()),
        Some((by, text)) => {
            let has_name = |other: &&Series| {
                let runs = measured(source, other, metric);
                runs.is_ok_and(|runs| subjects(source, &runs, by, text).is_ok())
            };
            let with_name = others.iter().take(MAX_SERIES).filter(has_name);
            let keys: Vec<String> = with_name.map(key_of).collect();
            match keys.as_slice() {
                [] => format!("without {text}"),
                keys => format!("with {text}: {}", some(keys)),
            }
        }
    };
    say(format!(
        "this is the series of the latest run ({}); there {number} ({listed}). --where selects runs, --series defines series",
        own.join(", ")
    ));
}

/// Reports why there is no history.
pub(super) fn without(error: HistoryError, stop: &Stop) -> Failure {
    match error {
        HistoryError::Usage(message) => complain(message, Failure::Usage),
        HistoryError::NothingSelected(message) => complain(message, Failure::NothingSelected),
        HistoryError::Store(error) => failed(error, stop),
    }
}

/// Says which runs have no place in a history.
pub(super) fn say_left_out(measured: &Measured) {
    if measured.left_out.is_empty() {
        return;
    }
    let runs: Vec<String> = measured.left_out.iter().map(i64::to_string).collect();
    say(format!(
        "runs without the metric {} in {} are left out: {}",
        measured.metric,
        measured.unit,
        runs.join(", ")
    ));
}

pub(super) fn run(asked: &History, words: Vec<String>, stop: &Stop) -> Result<(), Failure> {
    let target = asked.output.target(&Inputs::of(&asked.series.database))?;
    let layout = asked.output.layout(None, Vec::new());
    layout
        .check(true)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let page = asked.html.target(&Inputs::of(&asked.series.database))?;
    // A picture without its steps would be half of one.
    let with_changes = asked.steps || page.is_some();
    if !with_changes && asked.search.is_given() {
        return Err(complain(
            "--noise, --min-effect and --alpha need --steps",
            Failure::Usage,
        ));
    }
    let source = open_to_read(&asked.series.database, stop)?;
    let (series, others) = asked.series.latest(&source, stop)?;
    let name = asked.function.as_deref().or(asked.named.as_deref());
    let name = name.map(|name| (asked.by, name));
    let history = history(&source, series, asked.metric.as_deref(), name);
    let mut found = history.map_err(|error| without(error, stop))?;
    let normalized = found.normalize(&source, &asked.normalize);
    normalized.map_err(|error| without(error, stop))?;
    say_others(
        &source,
        &found.series,
        &others,
        asked.metric.as_deref(),
        name,
    );
    found.note.iter().for_each(say);
    if name.is_none() && asked.by != Fitting::Function {
        let what = asked.by.name();
        say(format!("--by {what} needs FN; '*' selects every {what}"));
    }
    say_left_out(&found.measured);
    let mut answer = answer(&source, &found);
    if with_changes {
        let search = asked.search.request();
        let changes = of_history(&source, &found, &search);
        let changes = changes.map_err(|error| without(error, stop))?;
        with_steps(&mut answer, &found, &changes, &search);
    }
    let Some(page) = page else {
        return print(&mut answer, &layout, &target, stop);
    };
    let mut words = without_page(words);
    if !asked.steps {
        words.push("--steps".to_owned());
    }
    let told =
        Told::of("history", words, &mut answer, None).map_err(|error| untold(error, stop))?;
    let content = Content {
        title: format!("History of {}", name.map_or("whole runs", |(_, name)| name)),
        told: vec![told],
        ..Content::default()
    };
    asked
        .html
        .write(&page, asked.series.database.words(), &content, stop)
}
