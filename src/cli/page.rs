//! `profdb report --html FILE`: a page for a browser.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueHint};

use super::args::run_set;
use super::export::size;
use super::failure::{Failure, complain, database, explain, output, say, unanswered, unchosen};
use super::inputs::Inputs;
use super::output::{Target, Unwritten};
use super::progress::Progress;
use super::source::{SeveralRuns, SourceArgs};
use crate::base::error::Stop;
use crate::page::{self, Content, PageError, Request, Source, Sql};
use crate::store::{ChooseError, Combination, Database, RunInfo, RunSet};

/// The name of the report that is a page.
pub(super) const PAGE: &str = "page";

/// The flag that asks for it.
pub(super) const HTML: &str = "--html";

#[derive(Debug, Args)]
struct Page {
    #[command(flatten)]
    source: SourceArgs,
    /// HTML file to write
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: PathBuf,
    /// Runs to include, or sum or mean of the runs of SET
    ///
    /// The page opens with the latest run. With a SET that matches several runs, the page shows
    /// their sum, or with `--runs mean` their mean.
    #[arg(long, value_name = "SET|WORD", value_parser = run_set())]
    runs: Option<RunSet>,
    /// Maximum size of the page, such as 500kB or 8MiB
    ///
    /// A page that would be larger leaves out details and lists what is missing.
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size)]
    max_size: u64,
    /// Open with this function and its callees: NAME, A,B or A>B
    #[arg(id = "fn", long = "fn", value_name = "PATH")]
    callers: Option<String>,
    /// Do not include the stored source
    #[arg(long)]
    without_source: bool,
    /// Do not include SQLite (about 0.5 MB) for SQL in the page
    #[arg(long)]
    no_sql: bool,
}

impl Page {
    /// Returns how several runs become one, if `--runs` has a word for it and a run or a file is named; else `--runs`
    /// has the runs to include.
    ///
    /// # Errors
    /// When runs to include are given beside a run or a file.
    fn combination(&self) -> Result<Option<Combination>, Failure> {
        let Some(set) = self.runs.as_ref().filter(|_| self.source.names_a_run()) else {
            return Ok(None);
        };
        let mut all = Combination::ALL.into_iter();
        let named = all.find(|known| known.name() == set.to_string());
        named.map(Some).ok_or_else(|| {
            let message = format!(
                "--runs: with a run or file, expected sum or mean, found {set}; without one, --runs SET includes each run of SET"
            );
            complain(message, Failure::Usage)
        })
    }
}

/// The command.
pub(super) fn command() -> Command {
    Page::augment_args(Command::new(PAGE))
        .infer_long_args(true)
        .about("An HTML page with functions, flame graph, call tree and source")
        .long_about(
            "An HTML page with functions, lines, flame graph, call tree, callers and source.\n\nThe file is \
             self-contained and works offline. Every view shows the command and the SQL for its figures.",
        )
}

/// Writes the page.
pub(super) fn run(matches: &ArgMatches, stop: &Stop) -> Result<(), Failure> {
    let page = Page::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let target = Target::named(HTML, Some(&page.html))?;
    target.spares(HTML, &page.source.inputs())?;
    let combination = page.combination()?;
    let (mut source, runs) = match &page.runs {
        Some(set) if combination.is_none() => {
            let source = page.source.open(stop)?;
            let runs = chosen(&source, set, stop)?;
            (source, runs)
        }
        _ => {
            let several = SeveralRuns::Combine(combination);
            let (source, run) = page.source.open_run(several, stop)?;
            (source, vec![run])
        }
    };
    let progress = Progress::of_walks(&mut source);
    let request = Request {
        command: page.source.words(runs.first()),
        max_size: page.max_size,
        source: if page.without_source {
            Source::Left
        } else {
            Source::Stored
        },
        sql: if page.no_sql { Sql::Left } else { Sql::Inside },
    };
    let content = Content {
        title: runs
            .first()
            .map_or_else(String::new, |run| run.name.clone()),
        runs: runs.iter().map(|run| (&source, run)).collect(),
        path: page.callers,
        ..Content::default()
    };
    let mut left = Vec::new();
    let written = target.write(stop, |out| {
        left = page::write(&content, &request, out).map_err(|error| unfinished(error, stop))?;
        Ok(())
    });
    drop(progress);
    if written.is_ok() {
        left.iter().for_each(say);
    }
    written
}

/// Why a page is not written.
fn unfinished(error: PageError, stop: &Stop) -> Unwritten {
    match error {
        PageError::Output(error) => Unwritten::Output(error),
        error => Unwritten::Failed(untold(error, stop)),
    }
}

/// A page instead of an answer in text.
#[derive(Clone, Debug, Args)]
pub(super) struct HtmlArgs {
    /// Write an HTML page instead
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["outfile", "format", "title", "decimal", "unit"])]
    html: Option<PathBuf>,
    /// Maximum size of the page, such as 500kB or 8MiB
    ///
    /// A page that would be larger leaves out details and lists what is missing.
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size, requires = "html")]
    max_size: u64,
}

impl HtmlArgs {
    /// Whether a page is asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        self.html.is_some()
    }

    /// Where the page goes, if one is asked for.
    ///
    /// # Errors
    /// When there can be no such file; before anything is done.
    pub(super) fn target(&self, inputs: &Inputs) -> Result<Option<Target>, Failure> {
        let Some(html) = &self.html else {
            return Ok(None);
        };
        let target = Target::named(HTML, Some(html))?;
        target.spares(HTML, inputs)?;
        Ok(Some(target))
    }

    /// Writes it. `database` has the words that name the database to commands.
    pub(super) fn write(
        &self,
        target: &Target,
        database: Vec<String>,
        content: &Content<'_>,
        stop: &Stop,
    ) -> Result<(), Failure> {
        let request = Request {
            command: page::Command {
                words: database,
                names_run: false,
            },
            max_size: self.max_size,
            source: Source::Stored,
            sql: Sql::Left,
        };
        let mut left = Vec::new();
        target.write(stop, |out| {
            left = page::write(content, &request, out).map_err(|error| unfinished(error, stop))?;
            Ok(())
        })?;
        left.iter().for_each(say);
        Ok(())
    }
}

/// Why an answer cannot be taken into a page.
pub(super) fn untold(error: PageError, stop: &Stop) -> Failure {
    match error {
        PageError::Output(error) => output(error),
        PageError::Report(error) => unanswered(error, stop),
        PageError::TooLarge(fault) => complain(fault, Failure::Output),
    }
}

/// Flags that are about the page, and none of the command that gives its figures: each is followed by a value.
const OF_PAGES: &[(&str, bool)] = &[(HTML, true), ("--max-size", true)];

/// The words of a command without those about the page.
pub(super) fn without_page(words: Vec<String>) -> Vec<String> {
    without_flags(words, OF_PAGES)
}

/// Words without some flags, which may be shortened as far as they are understood, and with their values where they have any.
pub(super) fn without_flags(
    words: impl IntoIterator<Item = String>,
    flags: &[(&str, bool)],
) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        let name = word.split('=').next().unwrap_or_default();
        let exact = flags.iter().find(|(flag, _)| *flag == name);
        let is_short = name.len() > 3 && name.starts_with("--");
        let found = exact.or_else(|| {
            flags
                .iter()
                .find(|(flag, _)| is_short && flag.starts_with(name))
        });
        match found {
            None => kept.push(word),
            Some((_, true)) if !word.contains('=') => {
                words.next();
            }
            Some(_) => {}
        }
    }
    kept
}

/// The runs of a set, the one that was imported last first.
fn chosen(source: &Database, set: &RunSet, stop: &Stop) -> Result<Vec<RunInfo>, Failure> {
    let numbers = source.choose(set).map_err(|error| match error {
        ChooseError::NoRuns(message) => complain(message, Failure::NothingSelected),
        error @ ChooseError::Store(_) => unchosen(error, stop),
    })?;
    let mut runs = Vec::new();
    for number in numbers.into_iter().rev() {
        let run = source
            .run(Some(number))
            .map_err(|error| database(error, stop))?;
        // Another program may have deleted it since.
        runs.extend(run);
    }
    Ok(runs)
}
