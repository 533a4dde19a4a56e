//! Flags that users of other tools try: some have the same meaning under another name here, to others there is another way.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::first_word::instead_of;

/// Flags of other tools, and what they are called here.
const SYNONYMS: &[(&str, &str)] = &[
    ("--json", "--format=json"),
    ("--jsonl", "--format=jsonl"),
    ("--csv", "--format=csv"),
    ("--tsv", "--format=tsv"),
    ("--md", "--format=markdown"),
    ("--markdown", "--format=markdown"),
    ("--no-trunc", "--wide"),
    ("--group-by", "--by"),
    ("--sample-index", "--metric"),
    ("--sample_index", "--metric"),
    ("--nodecount", "--first"),
    ("--limit", "--first"),
    ("-n", "--first"),
];

/// Flags of other tools, and what to do instead.
const OTHER_FLAGS: &[(&[&str], &str)] = &[
    (
        &["base", "diff-base", "diff_base", "compare"],
        "`profdb diff BASE NEW` compares two files, or two sets of runs",
    ),
    (
        &["normalize"],
        "`profdb diff BASE NEW --normalize total` compares shares",
    ),
    (
        &["tagfocus", "tagshow", "tagroot"],
        "`profdb report --label KEY=VALUE` selects samples with a label, `profdb report --by label:KEY` groups by it",
    ),
    (
        &["show-from", "show_from", "show"],
        "`profdb report --focus NAME` selects calls below a function, `profdb report --fn A,B` selects B below A",
    ),
    (
        &["quiet", "silent", "q", "no-progress"],
        "messages go to standard error: `2>/dev/null` hides them",
    ),
    (
        &["color", "colour", "no-color", "nocolor"],
        "output has no color",
    ),
    (
        &["verbose", "v", "debug"],
        "`profdb dump FILE` prints what is read from a file, `profdb show` prints the metadata of a run",
    ),
    (
        &["file"],
        "`profdb sql -` reads a statement from standard input",
    ),
    (
        &["f"],
        "--format selects the output, --from the input format, and `profdb sql -` reads a statement from standard input",
    ),
    (
        &["dry-run"],
        "`profdb delete latest` without --yes lists the runs to delete",
    ),
    (
        &["listen", "host", "bind"],
        "the server listens on this machine only; `profdb report --html FILE` writes a page to send",
    ),
];

/// The remedy for `profdb sql --run`.
const SQL_WITHOUT_RUN: &str = "a statement selects runs itself, for example with run_id = 3";

/// What to say of a flag of other tools that clap would take for the beginning of one of ours: `--show REGEX` of pprof is not
/// `--show-sql` cut short.
pub(super) fn taken_for_another(arguments: &[OsString]) -> Option<String> {
    let is_report = arguments.get(1).is_some_and(|command| command == "report");
    let mut words = arguments.iter().take_while(|word| *word != "--");
    let is_show =
        |word: &OsString| word == "--show" || word.to_string_lossy().starts_with("--show=");
    let instead = other("show")?;
    (is_report && words.any(is_show)).then(|| format!("unknown flag --show: {instead}"))
}

/// What to do instead of a flag of other tools.
fn other(word: &str) -> Option<&'static str> {
    let known = OTHER_FLAGS.iter().find(|(words, _)| words.contains(&word));
    known.map(|(_, instead)| *instead)
}

/// The arguments with the name that a flag has here; `None` if an error is of something else than a flag of other tools.
pub(super) fn renamed(arguments: &[OsString], error: &clap::Error) -> Option<Vec<OsString>> {
    let unknown = unknown(error)?;
    let (other, own) = SYNONYMS.iter().find(|(other, _)| *other == unknown)?;
    let mut renamed = arguments.to_vec();
    for argument in &mut renamed {
        let text = argument.to_string_lossy();
        let value = match text.strip_prefix(other) {
            // A flag that says which format has no value of its own.
            Some("") => Some(""),
            Some(value) if value.starts_with('=') && !own.contains('=') => Some(value),
            _ => None,
        };
        if let Some(value) = value {
            *argument = format!("{own}{value}").into();
            return Some(renamed);
        }
    }
    None
}

/// Parses arguments in which flags may be called as other tools have it.
pub(super) fn parsed(
    program: &mut Command,
    arguments: &mut Vec<OsString>,
) -> Result<clap::ArgMatches, clap::Error> {
    let mut parsed = program.try_get_matches_from_mut(arguments.iter());
    // Each turn renames one flag, and none is renamed to another one of the table.
    while let Err(error) = &parsed
        && let Some(renamed) = renamed(arguments, error)
    {
        let again = program.try_get_matches_from_mut(renamed.iter());
        let is_unknown = |error: &clap::Error| {
            let unknown = unknown(error);
            unknown.is_some_and(|unknown| SYNONYMS.iter().any(|(_, own)| own.starts_with(&unknown)))
        };
        // The command has no such flag by any name: what was written is what is wrong.
        if again.as_ref().is_err_and(is_unknown) {
            break;
        }
        *arguments = renamed;
        parsed = again;
    }
    parsed
}

/// What to say of a flag that other tools have, and this command has not.
pub(super) fn instead_of_flag(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    let unknown = unknown(error)?;
    // Of `-top` clap says that there is no `-t`.
    let first = arguments.get(1).map(|word| word.to_string_lossy());
    let written = match &first {
        Some(first) if first.starts_with('-') && first.starts_with(&unknown) => first.as_ref(),
        _ => unknown.as_str(),
    };
    let word = written.trim_start_matches('-').split('=').next()?;
    let instead = match (arguments.get(1).and_then(|word| word.to_str()), word) {
        (Some("sql"), "run") => SQL_WITHOUT_RUN,
        _ => other(word).or_else(|| instead_of(word))?,
    };
    let dashes = &written[..written.len() - written.trim_start_matches('-').len()];
    Some(format!("unknown flag {dashes}{word}: {instead}"))
}

/// The flag that an error says there is not.
fn unknown(error: &clap::Error) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::UnknownArgument, ContextValue::String(flag)) if flag.starts_with('-') => {
            Some(flag.clone())
        }
        _ => None,
    }
}
