//! What is done with a first argument that is no command: a file is shown, a database lists its
//! runs, and a word of another profiler is answered with the command of ours.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use super::database::is_database;
use super::inputs::STDIN;
use super::source::of_folder;
use crate::report::REPORTS;
use crate::store::RunSet;
use crate::text::nearest::suggestion;
use crate::text::shell::quoted;

/// Words that users of other profilers try, and what to run instead.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (
        &["top", "text", "flat", "hot", "hotspots", "stat", "ranked"],
        "`profdb report summary` lists functions by inclusive cost, `profdb report exclusive` by exclusive cost",
    ),
    (
        &["cum"],
        "`profdb report cumulative` lists functions by inclusive cost",
    ),
    (
        &["peek", "callers", "callgraph"],
        "`profdb report calls --fn NAME` shows the callers of a function, `profdb report callees --fn NAME` its callees",
    ),
    (
        &["list", "weblist", "annotate", "source", "disasm"],
        "`profdb report function --fn NAME --source DIR` shows a function line by line, `profdb report lines` lists the most expensive lines, `profdb runs` lists the runs",
    ),
    (
        &["calltree", "graph"],
        "`profdb report tree` shows the call tree, `profdb export --format dot` draws the call graph",
    ),
    (
        &["traces", "stacks", "hotpath", "path"],
        "`profdb report paths` shows the most expensive call paths",
    ),
    (
        &["flame", "flamegraph", "web", "svg", "icicle"],
        "`profdb export --format flamegraph -o run.svg` draws a flame graph, `profdb convert FILE --to flamegraph -o run.svg` that \
         of a file",
    ),
    (
        &["dot", "callgrind", "kcachegrind", "gv"],
        "`profdb export --format NAME` writes a run for other programs: dot, callgrind, pprof, folded and more",
    ),
    (
        &["raw", "print"],
        "`profdb dump FILE` prints what is read from a file, `profdb report data` all costs of a run",
    ),
    (
        &["proto", "pprof", "collapse", "folded", "speedscope"],
        "`profdb convert FILE --to NAME` writes a file in another format, `profdb export --format NAME` a run",
    ),
    (
        &["query", "select", "sqlite"],
        "`profdb sql 'SELECT ...'` queries the database",
    ),
    (&["ls", "log"], "`profdb runs` lists the runs"),
    (
        &["rm", "remove", "drop"],
        "`profdb delete RUN` deletes a run",
    ),
    (
        &["load", "add", "record", "read", "open", "view"],
        "`profdb import FILE` stores a profile, `profdb FILE` shows one without storing it",
    ),
    (
        &["info", "describe", "header", "state", "status"],
        "`profdb show` prints the metadata of a run",
    ),
    (
        &["prune"],
        "`profdb delete --keep N --per KEY` deletes all but the newest N runs of each group, `profdb delete RUN` \
         deletes a run, `profdb compact` shrinks the file",
    ),
    (
        &["vacuum", "gc"],
        "`profdb delete RUN` deletes a run, `profdb compact` shrinks the file",
    ),
    (
        &["explain", "columns", "views", "tables"],
        "`profdb schema` describes the tables and views, `profdb schema summary` describes one",
    ),
    (
        &["guide", "tutorial", "examples"],
        "`profdb help` lists the commands, `profdb COMMAND --help` has examples",
    ),
    (
        &["dashboard", "ui", "gui", "http", "browse"],
        "`profdb serve` shows all runs in the browser, `profdb report --html FILE` makes a page of them",
    ),
    (
        &["compare", "cmp", "delta", "benchstat"],
        "`profdb diff BASE NEW` compares runs or files",
    ),
    (
        &["completion", "complete"],
        "`profdb completions SHELL` prints a completion script",
    ),
];

/// What to run for a word that other profilers have.
pub(super) fn instead_of(word: &str) -> Option<&'static str> {
    OTHER_WORDS
        .iter()
        .find(|(words, _)| words.contains(&word))
        .map(|(_, instead)| *instead)
}

/// The first argument, if it is neither a command nor a flag: it may be a file.
pub(super) fn of_file(arguments: &[OsString], is_command: impl Fn(&str) -> bool) -> Option<String> {
    let word = arguments.get(1)?.to_string_lossy().into_owned();
    let is_flag = word.starts_with('-') && word != STDIN;
    (!word.is_empty() && !is_flag && !is_command(&word)).then_some(word)
}

/// The switch of `]PROFILE` that names the file of the profile.
const INFILE: [&str; 2] = ["-infile", "--infile"];

/// Inserts `report` where `]profile` without a report is meant: `profdb -infile=run.xml`, and `profdb` alone if `has_database`.
pub(super) fn name_the_report(arguments: &mut Vec<OsString>, has_database: impl Fn() -> bool) {
    let is_report = match arguments.get(1) {
        None => arguments.len() == 1 && has_database(),
        Some(first) => {
            let text = first.to_string_lossy();
            INFILE.contains(&text.split('=').next().unwrap_or_default())
        }
    };
    if is_report {
        arguments.insert(1, "report".into());
    }
}

/// `profdb FILE` means `profdb report FILE`, `profdb DATABASE` means `profdb runs --db DATABASE`.
///
/// # Errors
/// If the first argument is neither a command nor a file. The message has the commands that are most like it.
pub(super) fn name_the_command(
    mut arguments: Vec<OsString>,
    commands: &Command,
) -> Result<Vec<OsString>, String> {
    let is_command = |word: &str| is_command(commands, word);
    if let Some(instead) = of_help(&arguments, is_command) {
        return Err(instead);
    }
    if let [_, dashes, file, ..] = arguments.as_slice()
        && dashes == "--"
    {
        // What comes after two dashes is no flag, and here no command.
        let word = file.to_string_lossy();
        let is_other = (word.starts_with('-') && word != STDIN) || is_command(&word);
        if is_other {
            arguments[2] = Path::new(".").join(file).into();
        }
        arguments.remove(1);
    }
    let Some(word) = of_file(&arguments, is_command) else {
        return of_dash(&arguments).map_or(Ok(arguments), Err);
    };
    let first = &arguments[1];
    let path = Path::new(first);
    if word != STDIN && path.is_dir() {
        return Err(of_folder(&word));
    }
    // What a folder does not let this user see is said when it is opened.
    let is_hidden = path
        .metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    if word == STDIN || is_hidden || path.exists() {
        let instead: &[&str] = if is_database(path) {
            &["runs", "--db"]
        } else {
            // The file `3` is meant, not the run of this number.
            if !matches!(RunSet::read(first), Ok(RunSet::File(_) | RunSet::Word(_))) {
                arguments[1] = Path::new(".").join(path).into();
            }
            &["report"]
        };
        arguments.splice(1..1, instead.iter().map(OsString::from));
        return Ok(arguments);
    }
    let report = word.replace('-', "_");
    if let Some(report) = REPORTS.iter().find(|known| known.name == report) {
        return Err(format!(
            "{word} is not a command but a report: `profdb report {}`",
            report.name
        ));
    }
    if matches!(
        RunSet::read(first),
        Ok(RunSet::Latest | RunSet::Numbers(_) | RunSet::Tagged { .. })
    ) {
        return Err(format!(
            "there is no command {word}: `profdb report {word}` shows the summary of such a run, `profdb show {word}` its metadata"
        ));
    }
    if let Some(instead) = instead_of(&word) {
        return Err(format!("there is no command {word}: {instead}"));
    }
    let is_path = word.contains(['.', '/', '\\']);
    let names = commands.get_subcommands().map(Command::get_name);
    let names = names.filter(|_| !is_path).map(str::to_owned).collect();
    let near = suggestion("; the nearest commands: ", &word, names);
    Err(format!(
        "no command or file is called {word}{near}; `profdb help` lists the commands"
    ))
}

/// Returns true for the name of a command.
pub(super) fn is_command(commands: &Command, word: &str) -> bool {
    word == "help" || commands.find_subcommand(word).is_some()
}

/// Lets a statement begin with a comment: `profdb sql '-- own costs SELECT ...'` has no flag there.
pub(super) fn begin_with_comments(arguments: &mut [OsString]) {
    let is_sql = arguments.get(1).is_some_and(|command| command == "sql");
    for word in arguments.iter_mut().skip(2).filter(|_| is_sql) {
        let text = word.to_string_lossy();
        let comment = text.strip_prefix("--");
        if comment.is_some_and(|text| text.starts_with(char::is_whitespace)) {
            *word = format!("\n{text}").into();
        }
    }
}

/// What to say of a file whose name begins as a flag does.
fn of_dash(arguments: &[OsString]) -> Option<String> {
    let word = arguments.get(1)?.to_str()?;
    let is_flag = ["-h", "--help", "-V", "--version"].contains(&word);
    (word.starts_with('-') && !is_flag && Path::new(word).exists()).then(|| {
        format!(
            "{word} looks like a flag; `profdb ./{}` shows the file of this name",
            quoted(word, None)
        )
    })
}

/// What to say of `profdb help WORD` if the word is no command, but one of other profilers or a report.
fn of_help(arguments: &[OsString], is_command: impl Fn(&str) -> bool) -> Option<String> {
    let [_, help, word] = arguments else {
        return None;
    };
    let word = word.to_str().filter(|word| !is_command(word))?;
    if help != "help" {
        return None;
    }
    let report = word.replace('-', "_");
    if REPORTS.iter().any(|known| known.name == report) {
        return Some(format!(
            "{word} is not a command but a report: `profdb report {report} --help`"
        ));
    }
    instead_of(word).map(|instead| format!("there is no command {word}: {instead}"))
}

/// Explains a second file or set of runs where a report shows one.
pub(super) fn of_second_file(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    let is_report = arguments.get(1).is_some_and(|command| command == "report");
    let ContextValue::String(second) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let is_second = error.kind() == ErrorKind::UnknownArgument && !second.starts_with('-');
    if !is_report || !is_second {
        return None;
    }
    Some(if Path::new(second).exists() {
        format!(
            "expected one file, found a second one, {second}: `profdb diff BASE NEW` compares two files; to add up several, \
             store them with `profdb import` and show them with `profdb report 'last N'`"
        )
    } else {
        format!(
            "expected one set of runs, found a second one, {second}: `profdb report 1,2` adds up several runs, and \
             `profdb diff BASE NEW` compares two"
        )
    })
}

/// What to say of a flag of reports that comes before anything else: `profdb --first 3 run.xml`.
pub(super) fn of_flag(arguments: &[OsString], summary: &Command) -> Option<String> {
    let first = arguments.get(1)?.to_str()?;
    let name = first.split('=').next()?.strip_prefix("--")?;
    let mut known = summary.get_opts().filter_map(Arg::get_long);
    known.any(|flag| flag == name).then(|| {
        format!(
            "--{name} is a flag of `profdb report`: `profdb report --{name} ...`, or after the file, as in `profdb FILE --{name} ...`"
        )
    })
}
