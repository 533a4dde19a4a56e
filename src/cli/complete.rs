//! What a shell may offer for a word that is being written, where that is in the database: runs,
//! tags, metrics, threads, labels and functions. The scripts of [`super::completions`] ask for it;
//! what cannot be answered is not complained of, as who writes a command would see that in the middle
//! of it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::iter;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, ValueHint};

use super::database::DatabaseArgs;
use super::dyalog_switches::{expand_single_dash, name_the_default};
use super::failure::{Failure, output};
use super::shell_words::{Line, Word};
use super::streams;
use crate::report::labels_from;
use crate::store::{
    Database, LockWait, RunInfo, RunSet, SHORTEST_COMMIT, StoreError, Tag, ThreadName,
};
use crate::text::plain::is_unsafe;
use crate::text::shell::quoted;

/// The first argument of a shell's question. It is no command: no help and no script names it.
/// After it come the line up to the cursor, and, from a shell that quotes nothing itself, what of
/// it the answer will replace.
pub(super) const QUESTION: &str = "__complete";

/// The line that says that files are meant.
const FILES: &str = "";

/// What a shell is given at most: more does not fit on a screen.
const MOST: usize = 200;

/// What the value of an argument is looked for among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Sets of runs.
    Runs,
    /// Sets of runs, and files, which a shell knows itself.
    RunsOrFiles,
    /// The same, where a file is what is mostly meant.
    FilesOrRuns,
    /// Metrics of the run.
    Metrics,
    /// Functions of the run, as steps of a path.
    Functions,
    /// Threads of the run.
    Threads,
    /// Labels of the samples of the run.
    Labels,
    /// Keys of the tags of runs.
    Keys,
    /// Files and folders, which a shell knows itself.
    Files,
}

impl Kind {
    /// What the values of an argument are, if the database has them.
    pub(super) fn of(argument: &Arg) -> Option<Self> {
        let value = argument.get_value_names()?.first()?.as_str();
        match (argument.get_id().as_str(), value) {
            ("metric", _) => Some(Self::Metrics),
            ("converted", _) => Some(Self::FilesOrRuns),
            ("thread", _) => Some(Self::Threads),
            ("label", _) => Some(Self::Labels),
            ("remove" | "per" | "keys", _) => Some(Self::Keys),
            (_, "SET") => Some(Self::Runs),
            (_, "FILE|SET" | "BASE" | "NEW" | "[BASE] NEW") => Some(Self::RunsOrFiles),
            (_, "PATH" | "FN") => Some(Self::Functions),
            _ => match argument.get_value_hint() {
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => Some(Self::Files),
                _ => None,
            },
        }
    }

    /// Whether the values are in the database.
    pub(super) fn is_of_database(self) -> bool {
        self != Self::Files
    }
}

/// Answers a shell's question: a candidate on each line. A line without a candidate says that the shell is to offer files.
pub(super) fn run(program: Command, question: &[OsString]) -> Result<(), Failure> {
    let answer = question.split_first().and_then(|(line, replaced)| {
        let replaced = replaced.first().map(|text| text.to_str());
        let replaced = match replaced {
            Some(text) => Some(text?),
            None => None,
        };
        candidates(program, line.to_str()?, replaced)
    });
    let mut text = String::new();
    for candidate in answer.unwrap_or_default() {
        text.push_str(&candidate);
        text.push('\n');
    }
    streams::output()
        .and_then(|mut out| out.write_all(text.as_bytes()))
        .map_err(output)
}

/// The candidates for the last word of a line; as the shell has to insert them for the end of the
/// line that it replaces, or as values.
fn candidates(mut program: Command, line: &str, replaced: Option<&str>) -> Option<Vec<String>> {
    program.build();
    let line = Line::read(line);
    let begun = line.words.last()?.text.clone();
    let said = Question::read(&program, &line.words)?;
    let kind = Kind::of(said.asked?)?;
    let found = said.values(kind).unwrap_or_default();
    // A line ends where a candidate ends, and a shell shows names as they are, whatever they would do to its terminal.
    let mut found: Vec<String> = found
        .into_iter()
        .filter(|value| fits(value, &said.start) && !value.contains(is_unsafe))
        .collect();
    found.truncate(MOST);
    let are_files = matches!(kind, Kind::Files | Kind::RunsOrFiles | Kind::FilesOrRuns);
    if found.is_empty() && are_files {
        return Some(vec![FILES.to_owned()]);
    }
    let Some(replaced) = replaced else {
        return Some(found);
    };
    let flag = begun.strip_suffix(&said.start)?;
    let (kept, quote) = line.before(replaced)?;
    let whole = found.iter().map(|value| format!("{flag}{value}"));
    let ends = whole.filter_map(|whole| Some(quoted(whole.get(kept..)?, quote)));
    Some(ends.collect())
}

/// Whether a candidate goes on as it has been begun. Quotes that a value of a tag needs are rarely
/// written before it is seen that it does.
fn fits(value: &str, start: &str) -> bool {
    let unquoted = |text: &str| text.replace(['"', '\''], "");
    value.starts_with(start)
        || (value.contains('=') && unquoted(value).starts_with(&unquoted(start)))
}

/// What the words of a line say as far as the question goes.
struct Question<'c> {
    /// The argument whose value is being written.
    asked: Option<&'c Arg>,
    /// What of the value is there.
    start: String,
    /// The database that is named.
    database: Option<PathBuf>,
    /// The run that is named, as it is written.
    run: Option<String>,
}

impl<'c> Question<'c> {
    /// Reads the words as far as they make sense: the rest is not written yet.
    fn read(program: &'c Command, words: &[Word]) -> Option<Self> {
        let text = words.iter().map(|word| OsString::from(&word.expanded()));
        let text = name_the_default(expand_single_dash(text.collect()));
        let text: Vec<&str> = text.iter().filter_map(|word| word.to_str()).collect();
        let (last, before) = text.split_last()?;
        let mut said = Self {
            asked: None,
            start: String::new(),
            database: None,
            run: None,
        };
        let mut command = program;
        let (mut flag, mut are_flags_over, mut position) = (None, false, 1);
        for word in before.iter().skip(1) {
            if let Some(argument) = flag.take() {
                said.note(argument, word);
            } else if *word == "--" {
                are_flags_over = true;
            } else if !are_flags_over && word.len() > 1 && word.starts_with('-') {
                match flag_of(command, word) {
                    Some((argument, Some(value))) => said.note(argument, value),
                    Some((argument, None)) => flag = Some(argument),
                    None => {}
                }
            } else if let Some(below) = command.find_subcommand(word) {
                command = below;
            } else {
                if let Some(argument) = positional(command, position) {
                    said.note(argument, word);
                }
                position += 1;
            }
        }
        let (asked, start) = match flag {
            Some(argument) => (Some(argument), *last),
            None if !are_flags_over && last.starts_with('-') => match flag_of(command, last) {
                Some((argument, Some(value))) => (Some(argument), value),
                _ => (None, *last),
            },
            None => (positional(command, position), *last),
        };
        said.asked = asked;
        start.clone_into(&mut said.start);
        Some(said)
    }

    /// Keeps the value of an argument that says where to look.
    fn note(&mut self, argument: &Arg, value: &str) {
        match argument.get_id().as_str() {
            "path" if argument.get_long() == Some("db") => self.database = Some(value.into()),
            // A file is not imported while a command is written.
            "infile" => self.run = Some(format!("./{value}")),
            _ if matches!(
                Kind::of(argument),
                Some(Kind::Runs | Kind::RunsOrFiles | Kind::FilesOrRuns)
            ) =>
            {
                self.run = Some(value.to_owned());
            }
            _ => {}
        }
    }

    /// What the value may be; more than what begins as asked.
    fn values(&self, kind: Kind) -> Result<Vec<String>, StoreError> {
        let are_files_meant = match kind {
            Kind::Files => true,
            Kind::RunsOrFiles => is_start_of_file(&self.start),
            Kind::FilesOrRuns => self.start.is_empty() || is_start_of_file(&self.start),
            _ => false,
        };
        if are_files_meant {
            return Ok(Vec::new());
        }
        let path = DatabaseArgs::named(self.database.clone()).path();
        // As it is: nothing is waited for, and nothing brought up to date.
        let database = Database::open_source(&path, &LockWait::default())?;
        let of_run = |read: &dyn Fn(&RunInfo) -> Result<Vec<String>, StoreError>| {
            self.run(&database)
                .map_or_else(|| Ok(Vec::new()), |run| read(&run))
        };
        match kind {
            Kind::Runs | Kind::RunsOrFiles | Kind::FilesOrRuns => sets(&database, &self.start),
            Kind::Keys => database.tag_keys(),
            Kind::Files => Ok(Vec::new()),
            Kind::Metrics => of_run(&|run| {
                let metrics = database.metrics(run.run_id)?;
                Ok(metrics.into_iter().map(|metric| metric.name).collect())
            }),
            Kind::Threads => of_run(&|run| {
                let threads = database.threads_of(run.run_id)?;
                Ok(threads.iter().map(ThreadName::shown).collect())
            }),
            Kind::Labels => of_run(&|run| database.labels_from(run.run_id, &self.start, MOST)),
            Kind::Functions => of_run(&|run| steps(&database, run, &self.start)),
        }
    }

    /// The run that is named, else the one that was imported last.
    fn run(&self, database: &Database) -> Option<RunInfo> {
        let set = match &self.run {
            Some(text) => RunSet::read(OsStr::new(text)).ok()?,
            None => RunSet::Latest,
        };
        match &set {
            RunSet::File(_) => return None,
            RunSet::Word(name) if Path::new(name).exists() => return None,
            _ => {}
        }
        database.choose_one(&set).ok().map(|(run, _)| run)
    }
}

/// The argument that a flag begins, and its value if the word has it, too. `None` for a flag
/// without a value.
fn flag_of<'c, 'w>(command: &'c Command, word: &'w str) -> Option<(&'c Arg, Option<&'w str>)> {
    let takes_value = |argument: &&Arg| argument.get_action().takes_values();
    let Some(long) = word.strip_prefix("--") else {
        let mut letters = word.strip_prefix('-')?.chars();
        let short = letters.next()?;
        let mut known = command.get_arguments();
        let argument = known.find(|known| known.get_short() == Some(short));
        let value = Some(letters.as_str()).filter(|value| !value.is_empty());
        return argument.filter(takes_value).map(|found| (found, value));
    };
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    let mut known = command.get_arguments();
    let is_it = |known: &&Arg| {
        let others = known.get_all_aliases().unwrap_or_default();
        known.get_long() == Some(name) || others.contains(&name)
    };
    let exact = known.find(is_it);
    let argument = exact.or_else(|| {
        let mut fitting = command
            .get_arguments()
            .filter(|known| known.get_long().is_some_and(|long| long.starts_with(name)));
        // One that is not clear is not taken.
        fitting.next().filter(|_| fitting.next().is_none())
    });
    argument.filter(takes_value).map(|found| (found, value))
}

/// The argument at a position, from 1; the last one may come several times.
fn positional(command: &Command, position: usize) -> Option<&Arg> {
    let several = |argument: &&Arg| {
        let values = argument.get_num_args();
        values.is_some_and(|values| values.max_values() > 1)
            || matches!(argument.get_action(), clap::ArgAction::Append)
    };
    let known = command.get_positionals().nth(position - 1);
    known.or_else(|| command.get_positionals().last().filter(several))
}

/// Sets of runs: numbers and `latest`, uids and commits that are begun, the keys of tags, and the tags with a key that is there or
/// the only one that fits.
fn sets(database: &Database, start: &str) -> Result<Vec<String>, StoreError> {
    // After a comma the set goes on, unless it is part of a value in quotes.
    let is_between = |(at, _): &(usize, &str)| start[..*at].matches('"').count().is_multiple_of(2);
    let last = start.rmatch_indices(',').find(is_between);
    let (head, tail) = match last.map(|(at, _)| at) {
        Some(at) => start.split_at(at + 1),
        None => ("", start),
    };
    let mut found = Vec::new();
    if head
        .chars()
        .all(|each| each.is_ascii_digit() || each == ',')
    {
        found.extend(head.is_empty().then(|| "latest".to_owned()));
        // Tags are to be seen, too.
        let numbers = database.runs_from(tail, MOST / 2)?;
        let numbers = numbers.iter().map(ToString::to_string);
        found.extend(numbers.filter(|number| !head.split(',').any(|known| known == number)));
    }
    if head.is_empty() && !tail.is_empty() {
        let uids = database.short_uids()?;
        let begun = database.uids_from(tail, MOST)?;
        found.extend(begun.iter().map(|uid| uids.short(uid).to_owned()));
        if tail.len() >= SHORTEST_COMMIT {
            let commits = database.tags_of("commit")?.into_iter();
            let commits = commits.map(|tag| tag.value);
            found.extend(commits.filter(|commit| commit.starts_with(tail)));
        }
    }
    if head.is_empty() || head.contains('=') {
        let written = |key: &String| {
            let tag = Tag {
                key: key.clone(),
                value: String::new(),
            };
            (tag.to_string(), key.clone())
        };
        let keys = database.tag_keys()?;
        let keys: Vec<(String, String)> = keys
            .iter()
            .map(written)
            .filter(|(key, _)| key.starts_with(tail) || tail.starts_with(key))
            .filter(|(key, _)| !head.split(',').any(|known| known.starts_with(key)))
            .collect();
        match &keys[..] {
            [(_, key)] if !tail.is_empty() => {
                let tags = database.tags_of(key)?;
                found.extend(tags.iter().map(ToString::to_string));
            }
            keys => found.extend(keys.iter().map(|(written, _)| written.clone())),
        }
    }
    Ok(found
        .into_iter()
        .map(|set| format!("{head}{set}"))
        .collect())
}

/// Paths that end in a function of the run: names may have the operators of paths, so that what is
/// there is the start of one first.
fn steps(database: &Database, run: &RunInfo, start: &str) -> Result<Vec<String>, StoreError> {
    let operators = start.rmatch_indices([',', '>']).map(|(at, _)| at + 1);
    let splits = iter::once(0).chain(operators);
    for at in splits {
        let (head, tail) = start.split_at(at);
        let names = labels_from(database, run.run_id, tail, MOST)?;
        if !names.is_empty() {
            return Ok(names
                .into_iter()
                .map(|name| format!("{head}{name}"))
                .collect());
        }
    }
    Ok(Vec::new())
}

/// Whether there is a file whose name begins so; without a letter of it, none is meant.
fn is_start_of_file(start: &str) -> bool {
    if start.is_empty() {
        return false;
    }
    let (folder, name) = start.rsplit_once('/').unwrap_or((".", start));
    let folder = if folder.is_empty() { "/" } else { folder };
    let is_it = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(name))
    };
    fs::read_dir(folder).is_ok_and(|mut entries| entries.any(is_it))
}

impl Word {
    /// With the user's folder for `~` at its start.
    fn expanded(&self) -> String {
        let below = self.text.strip_prefix("~/").filter(|_| !self.is_quoted);
        let home = below.and_then(|below| {
            env::home_dir()?
                .join(below)
                .into_os_string()
                .into_string()
                .ok()
        });
        home.unwrap_or_else(|| self.text.clone())
    }
}
