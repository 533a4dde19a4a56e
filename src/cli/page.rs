//! `profdb report --html FILE`: a page for a browser.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueHint};

use super::args::run_set;
use super::database::open_to_read;
use super::export::size;
use super::failure::{Failure, complain, database, explain, unanswered, unchosen};
use super::output::{Target, Unwritten};
use super::progress::Progress;
use super::source::SourceArgs;
use crate::base::error::Stop;
use crate::page::{self, PageError, Request, Source};
use crate::store::{ChooseError, Database, RunInfo, RunSet};

/// The name of the report that is a page.
pub(super) const PAGE: &str = "page";

/// The flag that asks for it.
pub(super) const HTML: &str = "--html";

#[derive(Debug, Args)]
struct Page {
    #[command(flatten)]
    source: SourceArgs,
    /// The file to write, completely or not at all; any browser shows it, without a network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: PathBuf,
    /// Several runs in one page, which shows the one imported last first
    #[arg(long, value_name = "SET", conflicts_with_all = ["input", "run"], value_parser = run_set())]
    runs: Option<RunSet>,
    /// Bytes that the page may have: 500kB, 8MiB; where a run needs more, the page says what it leaves out
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size)]
    max_size: u64,
    /// Leave out the source that is stored with the run
    #[arg(long)]
    without_source: bool,
}

/// The command.
pub(super) fn command() -> Command {
    Page::augment_args(Command::new(PAGE))
        .infer_long_args(true)
        .about("One file for a browser: functions, lines, flame graph, tree, callers and source, to be clicked through")
        .long_about(
            "One file for a browser: functions, lines, flame graph, tree, callers and source, to be clicked through.\n\n\
             It opens from the disk and loads nothing. Every view says by which command, and by which SQL, its figures are \
             found here.",
        )
}

/// Writes the page.
pub(super) fn run(matches: &ArgMatches, stop: &Stop) -> Result<(), Failure> {
    let page = Page::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let target = Target::named(HTML, Some(&page.html))?;
    target.is_no_database(HTML, &page.source.database.path())?;
    let (mut source, runs) = match &page.runs {
        None => {
            let (source, run) = page.source.open_run(stop)?;
            (source, vec![run])
        }
        Some(set) => {
            let source = open_to_read(&page.source.database, stop)?;
            let runs = chosen(&source, set, stop)?;
            (source, runs)
        }
    };
    let progress = Progress::of_walks(&mut source);
    let request = Request {
        command: page.source.words(),
        max_size: page.max_size,
        source: if page.without_source {
            Source::Left
        } else {
            Source::Stored
        },
    };
    let written = target.write(stop, |out| {
        page::write(&source, &runs, &request, out).map_err(|error| match error {
            PageError::Output(error) => Unwritten::Output(error),
            PageError::Report(error) => Unwritten::Failed(unanswered(error, stop)),
            PageError::TooLarge(fault) => Unwritten::Failed(complain(fault, Failure::Output)),
        })
    });
    drop(progress);
    written
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
