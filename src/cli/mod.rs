//! The command line: the only code that prints, reads the environment and opens the files of the
//! user.
//!
//! Data go to standard output, everything else to standard error. Every function here reports what
//! went wrong itself and hands up only which [`Failure`] it was.

mod check;
mod completions;
mod convert;
mod delete;
mod draft;
mod dump;
mod export;
mod folder;
mod formats;
mod import;
mod man;
mod merge;
mod options;
mod output;
mod report;
mod runs;
mod schema;
mod screen;
mod show;
mod source;
mod sql;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, value_parser};

use self::screen::screen;
use crate::base::error::Stop;
use crate::base::limits;
use crate::report::ReportError;
use crate::report::render::{is_unsafe, plain};
use crate::store::{Patience, StoreError, versions};

/// Environment variable that names the database.
const DATABASE_VARIABLE: &str = "PROFDB_DB";

/// The database if nobody names one.
const DEFAULT_DATABASE: &str = "profdb.db";

/// What kept a command from doing what it was asked. It has been reported already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nobody reads our output any more: no failure at all.
    ClosedPipe,
    /// The output could not be written.
    Output,
    /// The command line does not make sense.
    Usage,
    /// An input is missing, unreadable, not recognised or malformed.
    Input,
    /// There is nothing of the kind asked for.
    NothingSelected,
    /// A check found something.
    CheckFailed,
    /// The database.
    Database,
    /// The system gives no more memory, files, threads, or room in a file.
    Limit,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

/// Imports what profilers write into one SQLite database, and answers with SQL views and reports.
#[derive(Debug, Parser)]
#[command(
    name = "profdb",
    infer_long_args = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Imports profiles into the database, each as a run
    Import(import::Import),
    /// Lists the runs
    Runs(runs::Runs),
    /// Shows what is known of a run: timer, bias, totals, notes
    Show(show::Show),
    /// Deletes a run with everything that belongs to it
    Delete(delete::Delete),
    /// Adds the runs of other databases that a database lacks
    Merge(merge::Merge),
    /// Writes a run in a format of another program
    Export(export::Export),
    /// Writes a profile in a format of another program, without a database
    Convert(convert::Convert),
    /// Runs one SQL statement, read-only
    Sql(sql::Sql),
    /// Shows what an importer understands of a file, event by event
    Dump(dump::Dump),
    /// Checks a database: the file, references, and figures against each other
    Check(check::Check),
    /// Explains the tables and views
    Schema,
    /// Lists the formats that are read, or explains one
    Formats(formats::Formats),
    /// Writes the words of the command line for a shell to complete
    Completions(completions::Completions),
    /// Writes the manual pages
    Man(man::Man),
}

/// Which database.
#[derive(Clone, Debug, Args)]
struct DatabaseArgs {
    /// The database file [default: `$PROFDB_DB`, else profdb.db]
    #[arg(long = "db", value_name = "FILE")]
    path: Option<PathBuf>,
}

impl DatabaseArgs {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    fn path(&self) -> PathBuf {
        let from_environment = || {
            std::env::var_os(DATABASE_VARIABLE)
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
        };
        self.path
            .clone()
            .or_else(from_environment)
            .unwrap_or_else(|| DEFAULT_DATABASE.into())
    }
}

/// How long to wait for a program that has the database, before it is written to.
#[derive(Clone, Debug, Args)]
struct WaitArgs {
    /// How long to wait for other programs that use the database
    #[arg(long = "wait", value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u32))]
    seconds: u32,
}

impl WaitArgs {
    fn patience(&self, stop: &Stop) -> Patience {
        Patience {
            limit: Duration::from_secs(self.seconds.into()),
            ..patience(stop)
        }
    }
}

/// What is said of a wait.
fn patience(stop: &Stop) -> Patience {
    let tell = |path: &Path, limit: Duration| {
        let seconds = limit.as_secs();
        say(format!(
            "{}: another program uses the database, waiting for up to {seconds} seconds",
            path.display()
        ));
    };
    Patience {
        stop: stop.clone(),
        tell,
        ..Patience::default()
    }
}

/// Runs the program with the arguments it was started with, until it is done or `stop` is set.
///
/// # Errors
/// What went wrong; it has been reported.
pub fn run(stop: &Stop) -> Result<(), Failure> {
    let outcome = dispatch(std::env::args_os().collect(), stop);
    // Only now is it sure that the output has arrived.
    outcome
        .and_then(|()| io::stdout().flush().map_err(output))
        .map_err(|failure| match failure {
            Failure::Interrupted if limits::is_memory_out() => {
                complain(limits::NO_MEMORY, Failure::Limit)
            }
            failure => failure,
        })
}

fn dispatch(arguments: Vec<OsString>, stop: &Stop) -> Result<(), Failure> {
    let arguments = report::name_the_default(report::two_dashes(arguments));
    if let Some(instead) = report::elsewhere(&arguments) {
        return Err(complain(instead, Failure::Usage));
    }
    if let Some(unknown) = report::unknown(&arguments) {
        return Err(complain(unknown, Failure::Usage));
    }
    let matches = program()
        .try_get_matches_from(&arguments)
        .map_err(|error| {
            let sentence = report::explain(&arguments, &error);
            sentence.map_or_else(
                || explain(&error),
                |sentence| complain(sentence, Failure::Usage),
            )
        })?;
    if let Some(("report", matches)) = matches.subcommand() {
        return report::run(matches, stop);
    }
    let cli = Cli::from_arg_matches(&matches).map_err(|error| explain(&error))?;
    match cli.command {
        Command::Import(import) => import::run(&import, stop),
        Command::Runs(runs) => runs::run(&runs, stop),
        Command::Show(show) => show::run(&show, stop),
        Command::Delete(delete) => delete::run(&delete, stop),
        Command::Merge(merge) => merge::run(&merge, stop),
        Command::Export(export) => export::run(&export, stop),
        Command::Convert(convert) => convert::run(&convert, stop),
        Command::Sql(sql) => sql::run(&sql, stop),
        Command::Dump(dump) => dump::run(&dump, stop),
        Command::Check(check) => check::run(&check, stop),
        Command::Schema => schema::run(),
        Command::Formats(formats) => formats::run(&formats),
        Command::Completions(completions) => completions::run(&completions),
        Command::Man(man) => man::run(&man, stop),
    }
}

/// The whole command line as clap sees it, for parsing and for documents.
#[must_use]
pub fn program() -> clap::Command {
    let (schema, sqlite) = versions();
    let version = format!(
        "{} (schema version {schema}, SQLite {sqlite})",
        env!("CARGO_PKG_VERSION")
    );
    Cli::command()
        .version(version)
        .subcommand(report::command())
}

/// Starts with a capital, as the help of the other flags does.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// Lets clap say what it has to say: help on standard output, complaints on standard error.
fn explain(error: &clap::Error) -> Failure {
    // What an argument holds may be the name of a stranger's file.
    let shown = error.render().to_string();
    let printed = if shown.contains(|character| character != '\n' && is_unsafe(character)) {
        let lines = shown.lines().map(plain).collect::<Vec<_>>().join("\n") + "\n";
        io::stderr().write_all(lines.as_bytes())
    } else {
        error.print()
    };
    match printed {
        Ok(()) if error.use_stderr() => Failure::Usage,
        Ok(()) => Failure::ClosedPipe,
        Err(error) => output(error),
    }
}

/// Reports a failure that has no file of its own.
fn complain(message: impl Display, failure: Failure) -> Failure {
    say(message);
    failure
}

/// Says something on standard error. If nobody can hear it there is nobody to complain to.
fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "profdb: {}", plain(&message.to_string()));
}

/// Writes a line to standard output.
fn line(text: impl Display) -> Result<(), Failure> {
    writeln!(io::stdout(), "{}", plain(&text.to_string())).map_err(output)
}

/// Writes text that ends its own lines to standard output.
fn write(text: &str) -> Result<(), Failure> {
    let mut out = screen();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(output)
}

/// Says that the program gives up waiting for an input, which an interrupt has asked for.
pub fn say_interrupted() {
    say("interrupted");
}

/// Removes what would be left of an output if the program ended now.
pub fn leave_nothing() {
    draft::remove_all();
}

fn output(error: io::Error) -> Failure {
    unwritten("cannot write the output", error)
}

/// Reports that something could not be written.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err has")]
fn unwritten(what: &str, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ if limits::is_limit(&error) => complain(format!("{what}: {error}"), Failure::Limit),
        _ => complain(format!("{what}: {error}"), Failure::Output),
    }
}

/// What it means that an input cannot be had: a fault of the input, or a limit of the system.
fn unread(error: &io::Error) -> Failure {
    if limits::is_limit(error) {
        Failure::Limit
    } else {
        Failure::Input
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err has")]
fn database(error: StoreError, stop: &Stop) -> Failure {
    if stop.is_set() {
        Failure::Interrupted
    } else {
        store(&error)
    }
}

/// Reports a failure of the database.
fn store(error: &StoreError) -> Failure {
    if limits::is_file_too_large() {
        return complain(
            format!("{error}: a file would become larger than the system lets it"),
            Failure::Limit,
        );
    }
    complain(error, Failure::Database)
}

fn asked(error: ReportError, stop: &Stop) -> Failure {
    match error {
        ReportError::Usage(message) => complain(message, Failure::Usage),
        ReportError::NothingSelected(message) => complain(message, Failure::NothingSelected),
        ReportError::Store(error) => database(error, stop),
    }
}
