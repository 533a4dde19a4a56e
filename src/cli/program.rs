//! The whole command line: from the arguments to the command that they name.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::database::DatabaseArgs;
use super::failure::{Failure, complain, explain, line, output, say};
use super::help::with_help_texts;
use super::{
    check, compact, complete, completions, convert, delete, diff, dump, dyalog_switches, export,
    first_word, formats, gate, history, identify, import, man, merge, other_flags, progress,
    report, runs, schema, serve, show, sql, steps, tag,
};
use crate::base::error::Stop;
use crate::base::limits;
use crate::report::REPORTS;
use crate::store::{later_runs_by_pages, versions};
use crate::text::plain::{is_unsafe, plain};

/// Import profiles into one SQLite database, and query, compare and track them
#[derive(Debug, Parser)]
#[command(
    name = "profdb",
    infer_long_args = true,
    arg_required_else_help = true,
    override_usage = "profdb <COMMAND>\n       profdb <FILE>     (print the summary of a profile, or list the runs of a database)",
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Import profiles into the database, each as a run
    Import(import::Import),
    /// List the runs of the database
    Runs(runs::Runs),
    /// Show the metadata of a run: timer, bias, totals, notes
    Show(show::Show),
    /// Add tags to runs, or remove tags
    Tag(tag::TagRuns),
    /// Delete runs
    Delete(delete::Delete),
    /// Shrink the database file after runs were deleted
    Compact(compact::Compact),
    /// Recompute function identities, which match functions across builds
    Identify(identify::Identify),
    /// Copy the runs of other databases into a database
    Merge(merge::Merge),
    /// Write a run in the format of another program
    Export(export::Export),
    /// Convert a profile to another format, without a database
    Convert(convert::Convert),
    /// Compare runs or files, and separate changes from noise
    Diff(Box<diff::Diff>),
    /// Check a change against a performance budget
    Gate(Box<gate::Gate>),
    /// Show the cost of a function, or of the whole run, from run to run
    History(Box<history::History>),
    /// Find the commits at which the cost of functions changed
    Steps(Box<steps::Steps>),
    /// Show the database in a browser, on this machine only
    Serve(serve::Serve),
    /// Run one read-only SQL statement
    Sql(sql::Sql),
    /// Print what the importer reads from a file, event by event
    Dump(dump::Dump),
    /// Check a database: the file, its references, and its sums
    Check(check::Check),
    /// Describe the tables and views
    Schema(schema::Schema),
    /// List the formats, or describe a format or profiler
    Formats(formats::Formats),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Write the manual pages
    Man(man::Man),
}

/// What is shown of a command while it is at work; `None` of one that waits to be asked.
fn work(command: &str) -> Option<&'static str> {
    Some(match command {
        "serve" => return None,
        "import" => "importing",
        "tag" => "tagging",
        "delete" => "deleting",
        "compact" => "compacting",
        "identify" => "identifying functions",
        "merge" => "merging",
        "export" => "exporting",
        "convert" => "converting",
        "diff" | "gate" => "comparing",
        "steps" => "searching",
        "dump" => "reading",
        "check" => "checking",
        "formats" | "completions" | "man" => "writing",
        _ => "asking",
    })
}

/// Runs the program with arguments, of which the first is its own name, until it is done or `stop` is set.
///
/// # Errors
/// What went wrong; it has been reported.
pub fn run(arguments: impl IntoIterator<Item = OsString>, stop: &Stop) -> Result<(), Failure> {
    let outcome = dispatch(arguments.into_iter().collect(), stop);
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
    if arguments
        .get(1)
        .is_some_and(|word| word == complete::QUESTION)
    {
        return complete::run(program(), &arguments[2..]);
    }
    let words = words(&arguments);
    let commands = Cli::command().subcommand(report::bare());
    let is_command = |word: &str| first_word::is_command(&commands, word);
    let mut arguments = arguments;
    first_word::name_the_report(&mut arguments, || {
        DatabaseArgs::named(None).path().is_file()
    });
    // A file is looked into, which takes as long as its disk does.
    let is_file = first_word::of_file(&arguments, is_command).is_some();
    let looking = is_file.then(|| progress::begin("asking"));
    let arguments = first_word::name_the_command(arguments, &commands)
        .map_err(|instead| complain(instead, Failure::Usage))?;
    let mut arguments =
        dyalog_switches::name_the_default(dyalog_switches::expand_single_dash(arguments));
    first_word::begin_with_comments(&mut arguments);
    if let Some(word) = dyalog_switches::rename(&mut arguments) {
        say(word);
    }
    if let Some(instead) = dyalog_switches::unsupported_hint(&arguments) {
        return Err(complain(instead, Failure::Usage));
    }
    if let Some(instead) = other_flags::taken_for_another(&arguments) {
        return Err(complain(instead, Failure::Usage));
    }
    if let Some(unknown) = dyalog_switches::unknown(&arguments) {
        return Err(complain(unknown, Failure::Usage));
    }
    // What is wrong, and help, is said by the whole program.
    let matches = needed(commands, &arguments).try_get_matches_from(&arguments);
    let matches = matches.or_else(|_| other_flags::parsed(&mut program(), &mut arguments));
    let matches = matches.map_err(|error| {
        let sentence =
            report::explain_flags(&arguments, &error).or_else(|| database_without_flag(&error));
        let sentence = sentence.or_else(|| other_flags::instead_of_flag(&arguments, &error));
        let sentence = sentence.or_else(|| first_word::of_second_file(&arguments, &error));
        let sentence = sentence.or_else(|| {
            let is_unknown = error.kind() == ErrorKind::UnknownArgument;
            let command = report::command();
            let default = command.find_subcommand(REPORTS[0].name);
            let default = default.filter(|_| is_unknown);
            default.and_then(|default| first_word::of_flag(&arguments, default))
        });
        match sentence {
            Some(sentence) => complain(sentence, Failure::Usage),
            None if error.kind() == ErrorKind::DisplayVersion => explain_version(&error),
            None => complained(&arguments, error),
        }
    })?;
    let begin = || {
        matches
            .subcommand_name()
            .and_then(work)
            .map(progress::begin)
    };
    let _shown = looking.or_else(begin);
    commanded(&matches, words, stop)
}

/// The arguments after the name of the program, as text.
fn words(arguments: &[OsString]) -> Vec<String> {
    let words = arguments.iter().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// As much of the command line as is needed to parse these arguments, if nothing is wrong with them: of the
/// reports only the one that they name. To make all of them takes longer than many an answer.
fn needed(commands: clap::Command, arguments: &[OsString]) -> clap::Command {
    let words = arguments.get(1).zip(arguments.get(2));
    let report = words.filter(|(command, _)| *command == "report");
    with_numbers(match report {
        Some((_, name)) => commands.mut_subcommand("report", |reports| {
            report::with_report(reports, &name.to_string_lossy())
        }),
        None => commands,
    })
}

/// Says what clap has to say. An argument may be the name of a file that another user has chosen: where
/// one has what a terminal would obey, clap is asked about arguments in which that is escaped, as in
/// messages of profdb.
fn complained(arguments: &[OsString], error: clap::Error) -> Failure {
    let is_harmless = |argument: &OsString| !argument.to_string_lossy().contains(is_unsafe);
    if arguments.iter().all(is_harmless) {
        return explain(&with_tips_that_help(error));
    }
    let shown = arguments
        .iter()
        .map(|argument| plain(&argument.to_string_lossy()));
    match program().try_get_matches_from(shown) {
        Err(error) => explain(&with_tips_that_help(error)),
        // Only what is wrong with the characters themselves is no longer wrong.
        Ok(_) => complain(paragraph(&error), Failure::Usage),
    }
}

/// A complaint of a flag that there is not, without the tip how to give it as a value: a word that looks like a flag is
/// meant as one, unless there is a file of this name.
fn with_tips_that_help(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let name = word.split('=').next().unwrap_or_default();
    let is_of_flags = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    let is_flag = name.starts_with('-') && name.chars().all(is_of_flags);
    if !is_flag || Path::new(word).exists() {
        return error;
    }
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().starts_with("to pass "));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}

/// The first paragraph of a complaint, which is what is wrong, with a line for each flag that is missing;
/// usage follows.
fn paragraph(error: &clap::Error) -> String {
    let said = error.render().to_string();
    let lines = said.lines().map(str::trim);
    let wrong: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    wrong.join(" ").trim_start_matches("error: ").to_owned()
}

/// Carries out a command that was asked by no terminal, and says what there is to say of its words in one sentence.
fn carried_out(
    program: &mut clap::Command,
    arguments: &[OsString],
    stop: &Stop,
) -> Result<(), Failure> {
    let matches = program.try_get_matches_from_mut(arguments);
    let matches = matches.map_err(|error| {
        let sentence =
            report::explain_flags(arguments, &error).unwrap_or_else(|| paragraph(&error));
        complain(sentence, Failure::Usage)
    })?;
    commanded(&matches, words(arguments), stop)
}

/// Carries out the command that was parsed from some words.
fn commanded(matches: &clap::ArgMatches, words: Vec<String>, stop: &Stop) -> Result<(), Failure> {
    // Its subcommands are made from the headers of reports, which no derived struct knows.
    if let Some(("report", matches)) = matches.subcommand() {
        return report::run(matches, stop);
    }
    let cli = Cli::from_arg_matches(matches).map_err(|error| explain(&error))?;
    match cli.command {
        Command::Import(import) => import::run(&import, stop),
        Command::Runs(runs) => runs::run(&runs, stop),
        Command::Show(show) => show::run(&show, stop),
        Command::Tag(tag) => tag::run(&tag, stop),
        Command::Delete(delete) => delete::run(&delete, stop),
        Command::Compact(compact) => compact::run(&compact, stop),
        Command::Identify(identify) => identify::run(&identify, stop),
        Command::Merge(merge) => merge::run(&merge, stop),
        Command::Export(export) => export::run(&export, stop),
        Command::Convert(convert) => convert::run(&convert, stop),
        Command::Diff(diff) => diff::run(&diff, words, stop),
        Command::Gate(gate) => gate::run(&gate, stop),
        Command::History(asked) => history::run(&asked, words, stop),
        Command::Steps(asked) => steps::run(&asked, words, stop),
        Command::Serve(asked) => serve::run(&asked, self::program(), carried_out, stop),
        Command::Sql(sql) => sql::run(&sql, stop),
        Command::Dump(dump) => dump::run(&dump, stop),
        Command::Check(check) => check::run(&check, stop),
        Command::Schema(schema) => schema::run(&schema, stop),
        Command::Formats(formats) => formats::run(&formats, stop),
        Command::Completions(completions) => completions::run(&completions, self::program()),
        Command::Man(man) => man::run(&man, self::program(), stop),
    }
}

/// What to say of a file that was given where no command takes one, as in `profdb check x.db`.
fn database_without_flag(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let is_database = Path::new(word).extension().is_some_and(|ending| {
        ["db", "sqlite", "sqlite3"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    });
    (error.kind() == ErrorKind::UnknownArgument && is_database && !word.starts_with('-'))
        .then(|| format!("unexpected argument {word}; use `--db {word}` for a database"))
}

/// The version, and how this build writes later runs: how it was installed decides that. Asked only
/// here, as it takes a database in memory.
fn explain_version(error: &clap::Error) -> Failure {
    let way = if later_runs_by_pages() {
        "whole pages"
    } else {
        "row by row, which takes twice the time: built without LIBSQLITE3_FLAGS=-DSQLITE_ENABLE_DBPAGE_VTAB (docs/release.md)"
    };
    match explain(error) {
        Failure::ClosedPipe => line(format_args!("imports into existing databases write {way}"))
            .and_then(|()| serve::ABOUT.map_or(Ok(()), line))
            .err()
            .unwrap_or(Failure::ClosedPipe),
        failure => failure,
    }
}

/// A number may be negative: `--first -1` is one that makes no sense, not a flag `-1`.
fn with_numbers(command: clap::Command) -> clap::Command {
    let with_number = |argument: Arg| match argument.get_value_names() {
        Some([name]) if *name == "N" => argument.allow_negative_numbers(true),
        _ => argument,
    };
    command.mut_args(with_number).mut_subcommands(with_numbers)
}

/// The whole command line as clap sees it, for messages and for documents.
#[must_use]
pub fn program() -> clap::Command {
    let (schema, sqlite) = versions();
    let version = format!(
        "{} (schema version {schema}, SQLite {sqlite})",
        env!("CARGO_PKG_VERSION")
    );
    with_help_texts(with_numbers(
        Cli::command()
            .version(version)
            .subcommand(report::command()),
    ))
}
