//! `profdb steps`

use std::collections::BTreeSet;
use std::iter;

use clap::Args;

use super::args::{count, share};
use super::database::open_to_read;
use super::failure::{Failure, complain, say};
use super::filters::FilterArgs;
use super::history::{SearchArgs, SeriesArgs, by, say_left_out, say_others, without};
use super::inputs::Inputs;
use super::output::{OutputArgs, print};
use super::page::{HtmlArgs, untold, without_flags, without_page};
use super::sides::{digest_of_rules, normalize};
use crate::base::error::Stop;
use crate::compare::Normalize;
use crate::history::steps::{
    Request, Since, Steps as Found, answer, of_history, steps, with_steps,
};
use crate::history::{answer as answer_of, history};
use crate::page::Content;
use crate::page::Told;
use crate::store::{Database, Fitting};

#[derive(Debug, Args)]
pub(super) struct Steps {
    #[command(flatten)]
    series: SeriesArgs,
    /// Metric to show
    ///
    /// [default: the default metric of the last run]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    #[command(flatten)]
    search: SearchArgs,
    /// Divide costs by total, median, calls or tag:KEY
    ///
    /// `total` shows shares of the total. `median` removes a factor that most of the cost has in
    /// common, such as a slower machine. `tag:KEY` divides by the number in a tag.
    #[arg(long, value_name = "BY", default_value = "none", value_parser = normalize)]
    normalize: Normalize,
    /// Print one row per function, module or file
    #[arg(long, value_name = "WORD", default_value = "function", value_parser = by)]
    by: Fitting,
    /// Only functions with this name; * and ? are wildcards
    ///
    /// NAME, NAME (PLACE) as other commands print it, `FILE:NAME`, `NAME:LINE` or `FILE:LINE`. With --by, the name of a module or file.
    #[arg(long = "fn", value_name = "FN")]
    function: Option<String>,
    #[command(flatten)]
    filters: FilterArgs,
    /// Search only functions of N % or more of the total
    #[arg(long, value_name = "N", default_value = "0.1", value_parser = share)]
    min_share: f64,
    /// Only steps from a commit on, or in the last N positions
    #[arg(long, value_name = "COMMIT|N", value_parser = since)]
    since: Option<Since>,
    /// Include functions without a step
    ///
    /// They are listed with the smallest detectable change.
    #[arg(long)]
    all: bool,
    /// Print only the first N rows
    #[arg(long, value_name = "N", value_parser = count)]
    first: Option<u64>,
    #[command(flatten)]
    html: HtmlArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// A number of positions has at most as many digits; a longer one is the beginning of a commit.
const DIGITS: usize = 6;

fn since(text: &str) -> Result<Since, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("expected a commit, or a number of positions above 0".to_owned()),
        Ok(number) if text.len() <= DIGITS => Ok(Since::Last(number)),
        _ if text.is_empty() => Err("expected a commit, or a number of positions".to_owned()),
        _ => Ok(Since::Commit(text.to_owned())),
    }
}

pub(super) fn run(asked: &Steps, words: Vec<String>, stop: &Stop) -> Result<(), Failure> {
    let target = asked.output.target(&Inputs::of(&asked.series.database))?;
    let layout = asked.output.layout(None, Vec::new());
    layout
        .check(true)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let page = asked.html.target(&Inputs::of(&asked.series.database))?;
    let source = open_to_read(&asked.series.database, stop)?;
    let (series, others) = asked.series.latest(&source, stop)?;
    let question = Request {
        metric: asked.metric.clone(),
        by: asked.by,
        name: asked.function.clone(),
        arguments: asked.filters.arguments().collect(),
        min_share: asked.min_share / 100.0,
        since: asked.since.clone(),
        all: asked.all,
        normalize: asked.normalize.clone(),
        ..asked.search.request()
    };
    let mut found = steps(&source, series, question).map_err(|error| without(error, stop))?;
    if let Some(first) = asked.first {
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        found.changes.truncate(first);
    }
    let name = asked.function.as_deref().map(|name| (asked.by, name));
    say_others(
        &source,
        &found.series,
        &others,
        asked.metric.as_deref(),
        name,
    );
    found.note.iter().for_each(say);
    say_left_out(&found.measured);
    let rules = digest_of_rules(&source, stop)?;
    let mut shown = answer(&source, &found, rules.as_deref());
    let Some(page) = page else {
        return print(&mut shown, &layout, &target, stop);
    };
    let words = without_page(words);
    let told = Told::of("steps", words.clone(), &mut shown, None);
    let mut told = vec![told.map_err(|error| untold(error, stop))?];
    // A history has no filters: its figures would be others.
    if asked.filters.arguments().next().is_none() {
        told.extend(histories(asked, words, &source, &found, stop)?);
    }
    let content = Content {
        title: format!("Steps of {}", found.measured.metric),
        told,
        ..Content::default()
    };
    asked
        .html
        .write(&page, asked.series.database.words(), &content, stop)
}

/// Functions whose history is in a page beside the steps: those that changed most.
const DRAWN: usize = 40;

/// Flags of this command that a history has not.
const NOT_OF_HISTORIES: &[(&str, bool)] = &[
    ("--fn", true),
    ("--min-share", true),
    ("--since", true),
    ("--all", false),
    ("--first", true),
];

/// The history of whole runs, and of what changed most.
fn histories(
    asked: &Steps,
    words: Vec<String>,
    source: &Database,
    found: &Found,
    stop: &Stop,
) -> Result<Vec<Told>, Failure> {
    let words = without_flags(words.into_iter().skip(1), NOT_OF_HISTORIES);
    let names = found.changes.iter().take(DRAWN).map(|change| {
        let [function, module, file] = &change.names;
        let name = match asked.by {
            Fitting::Function => function,
            Fitting::Module => module,
            Fitting::File => file,
        };
        // Quoted, a name is one whatever it has.
        Some(format!("\"{}\"", name.replace('"', "\"\"")))
    });
    let mut told = Vec::new();
    let mut seen = BTreeSet::new();
    for name in iter::once(None).chain(names) {
        if !seen.insert(name.clone()) {
            continue;
        }
        let of = name.as_deref().map(|name| (asked.by, name));
        let history = history(source, found.series.clone(), asked.metric.as_deref(), of);
        let mut history = history.map_err(|error| without(error, stop))?;
        let normalized = history.normalize(source, &asked.normalize);
        normalized.map_err(|error| without(error, stop))?;
        let search = asked.search.request();
        let changes = of_history(source, &history, &search);
        let changes = changes.map_err(|error| without(error, stop))?;
        let mut shown = answer_of(source, &history);
        with_steps(&mut shown, &history, &changes, &search);
        let command = ["history".to_owned()].into_iter().chain(name);
        let command = command.chain(words.clone()).chain(["--steps".to_owned()]);
        let history = Told::of("history", command.collect(), &mut shown, None);
        told.push(history.map_err(|error| untold(error, stop))?);
    }
    Ok(told)
}
