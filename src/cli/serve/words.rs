//! From what a page asks to the words of a command: `report/summary?fn=A,B&exclusive` is
//! `profdb report summary --fn=A,B --exclusive`. Only what is a question is taken over: no word that names a file, and none
//! that writes one.

use std::path::Path;

use clap::{Arg, ArgAction, Command};

use super::super::output::ListArgs;
use super::super::sides::is_stored;
use super::super::source::SourceArgs;
use crate::store::RunSet;

/// Flags that a page may not set, besides those that say where a question goes and how it is printed.
const NOT_OURS: [&str; 4] = ["source", "html", "exit-code", "tag"];

/// Parameters that are sets of runs.
const SETS: [&str; 4] = ["run", "where", "base", "new"];

/// In which formats answers come, and of which type they are.
const FORMATS: [(&str, &str); 7] = [
    ("json", "application/json"),
    ("jsonl", "text/plain; charset=utf-8"),
    ("csv", "text/plain; charset=utf-8"),
    ("tsv", "text/plain; charset=utf-8"),
    ("markdown", "text/plain; charset=utf-8"),
    ("text", "text/plain; charset=utf-8"),
    ("xml", "text/plain; charset=utf-8"),
];

/// Which of them is for people.
const TEXT: usize = 5;

/// Commands, and the parameters that are words without a flag, in their order.
const COMMANDS: [(&str, &[&str]); 5] = [
    ("runs", &[]),
    ("show", &["run"]),
    ("diff", &[]),
    ("history", &["fn"]),
    ("steps", &[]),
];

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The words after the name of the program.
    pub(super) words: Vec<String>,
    /// The type of the answer.
    pub(super) kind: &'static str,
}

/// Names and values of the query of a URL.
///
/// # Errors
/// When it is not written as URLs are.
pub(super) fn pairs(query: &str) -> Result<Vec<(String, String)>, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// A text without the signs that URLs have for others.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || format!("{text}: expected percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let [high, low, after @ ..] = rest else {
                    return Err(wrong());
                };
                let (Some(high), Some(low)) = (digit(high), digit(low)) else {
                    return Err(wrong());
                };
                rest = after;
                u8::try_from(high << 4 | low).map_err(|_| wrong())?
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// The set of runs that a parameter is.
///
/// # Errors
/// When it is none, or may be the name of a file.
pub(super) fn set(text: &str) -> Result<RunSet, String> {
    let set: RunSet = text.parse().map_err(|error| format!("{text}: {error}"))?;
    if !is_stored(&set) || Path::new(text).exists() {
        return Err(format!("{text}: expected runs of the database, not a file"));
    }
    Ok(set)
}

/// The words of the command that a path and its parameters are; `None` if there is no such command.
///
/// # Errors
/// When a parameter is not one of the command, or does not say what it has to.
pub(super) fn words(
    program: &Command,
    path: &str,
    pairs: &[(String, String)],
) -> Option<Result<Words, String>> {
    let (command, mut words, places): (_, _, &[&str]) =
        if let Some(name) = path.strip_prefix("report/") {
            let report = program.find_subcommand("report")?.find_subcommand(name)?;
            let places: &[&str] = match report.get_name() {
                "page" => return None,
                "diff_tree" | "diff_paths" => &["base", "new"],
                _ => &[],
            };
            let words = ["report", report.get_name()];
            (report, words.map(str::to_owned).to_vec(), places)
        } else {
            let (name, places) = COMMANDS.iter().find(|(name, _)| *name == path)?;
            let command = program.find_subcommand(name)?;
            (command, vec![(*name).to_owned()], places)
        };
    Some(arguments(command, pairs, places).map(|(more, kind)| {
        words.extend(more);
        Words { words, kind }
    }))
}

fn arguments(
    command: &Command,
    pairs: &[(String, String)],
    places: &[&str],
) -> Result<(Vec<String>, &'static str), String> {
    // Statements are shown as for people; JSON would have more columns.
    let is_sql = pairs.iter().any(|(name, _)| name == "show-sql");
    let (mut format, mut flags) = (FORMATS[if is_sql { TEXT } else { 0 }], Vec::new());
    let mut words: Vec<Option<String>> = vec![None; places.len()];
    let about = command.get_name();
    for (name, value) in pairs {
        if SETS.contains(&name.as_str()) {
            set(value)?;
        }
        if name == "format" {
            let known = FORMATS.iter().find(|(known, _)| known == value);
            format = *known.ok_or_else(|| {
                let names = FORMATS.map(|(name, _)| name).join(", ");
                format!("format: expected {names}")
            })?;
        } else if let Some(place) = places.iter().position(|place| place == name) {
            words[place] = Some(value.clone());
        } else {
            let flag = is_ours(command, name)
                .ok_or_else(|| format!("{about}: there is no parameter {name}"))?;
            match flag.get_action() {
                ArgAction::SetTrue => match value.as_str() {
                    "" | "true" | "yes" => flags.push(format!("--{name}")),
                    "false" | "no" => {}
                    _ => return Err(format!("{name}: expected yes or no")),
                },
                _ => flags.push(format!("--{name}={value}")),
            }
        }
    }
    flags.push(format!("--format={}", format.0));
    let words: Vec<String> = words.into_iter().map_while(|word| word).collect();
    if !words.is_empty() {
        // What begins with a dash is a word then, too.
        flags.push("--".to_owned());
        flags.extend(words);
    }
    Ok((flags, format.1))
}

/// The flag of a command, if it is part of a question.
fn is_ours<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let known = |flag: &&Arg| flag.get_long() == Some(name);
    let flag = command.get_arguments().find(known)?;
    let is_refused = NOT_OURS.contains(&name)
        || (name != "run"
            && beside()
                .get_arguments()
                .any(|flag| flag.get_long() == Some(name)));
    (!is_refused).then_some(flag)
}

/// The flags that say where a question goes and how its answer is printed.
fn beside() -> Command {
    use clap::Args as _;
    SourceArgs::augment_args(ListArgs::augment_args(Command::new("beside")))
}
