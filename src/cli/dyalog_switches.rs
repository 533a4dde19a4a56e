//! What is done to the arguments of `profdb report` before clap sees them: switches with one dash,
//! as Dyalog's users write them, and the report that is meant where none is named.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;

use super::diff_tree;
use super::first_word::instead_of;
use super::output::XML_BY_DEFAULT;
use super::page::{HTML, PAGE};
use super::report::{SHOW, STATE, TAGS_OF_RUNS, command};
use crate::report::REPORTS;
use crate::store::RunSet;
use crate::text::nearest::suggestion;

/// A report that is a window of Dyalog's.
const DASHBOARD: &str = "dashboard";

/// What to run instead of what only Dyalog can do, if the arguments ask for that.
pub(super) fn unsupported_hint(arguments: &[OsString]) -> Option<&'static str> {
    if arguments.get(1).is_none_or(|command| command != "report") {
        return None;
    }
    let is_expression = |argument: &OsString| {
        argument == "--expr" || argument.to_string_lossy().starts_with("--expr=")
    };
    if arguments
        .iter()
        .skip(2)
        .take_while(|argument| *argument != "--")
        .any(is_expression)
    {
        return Some(
            "-expr runs APL code, which profdb cannot do. In Dyalog, run `]PROFILE tree -expr=\"...\" \
             -outfile=run.xml`, then `profdb report run.xml`",
        );
    }
    (arguments.get(2)? == DASHBOARD).then_some(
        "the dashboard is a window of Dyalog. `profdb report --html page.html` writes a page with its functions; or \
         run `profdb report summary`, then `profdb report calls --fn NAME` or `profdb report tree`",
    )
}

/// Writes `-fn=X` as `--fn=X`: Dyalog's switches have one dash. A single letter after the dash, or
/// something else than letters, is left as it is.
pub(super) fn expand_single_dash(arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "report") {
        return arguments;
    }
    let mut switches = true;
    let mut doubled = |argument: OsString| {
        // After `--` there are no switches: a file may be called `-fn`.
        switches &= argument != "--";
        let letters = argument
            .as_encoded_bytes()
            .strip_prefix(b"-")
            .unwrap_or_default();
        let is_switch = letters.len() > 1 && letters.iter().take(2).all(u8::is_ascii_lowercase);
        if !(switches && is_switch) {
            return argument;
        }
        let mut doubled = OsString::from("-");
        doubled.push(argument);
        doubled
    };
    let mut expanded = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let single = argument.clone();
        let doubled = doubled(argument);
        if doubled != single && is_outfile(&doubled) {
            expanded.push(format!("--{XML_BY_DEFAULT}").into());
        }
        expanded.push(doubled);
    }
    expanded
}

/// Whether a switch names the file of the output, whose format is then that of the manual.
fn is_outfile(switch: &OsString) -> bool {
    let text = switch.to_string_lossy();
    let name = text.split('=').next().unwrap_or_default();
    "--outfile".starts_with(name)
}

/// `profdb report run.xml` and `profdb report --first 5` mean the report `summary`. A word that is
/// no file and does not look like one is taken for the name of a report, so that a mistyped name is
/// answered with the known names.
pub(super) fn name_the_default(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "report") {
        return arguments;
    }
    // `profdb report --db x.db calls`, `profdb report run.xml calls`: the name may come after
    // flags or the file.
    let is_report = |argument: &OsString| is_name(&argument.to_string_lossy());
    if arguments
        .get(2)
        .is_some_and(|first| !is_report(first) && !is_word(first))
        && let Some(at) = (3..arguments.len())
            .find(|&at| is_report(&arguments[at]) && !takes_value(&arguments[at - 1]))
    {
        let name = arguments.remove(at);
        arguments.insert(2, name);
        return arguments;
    }
    let named = arguments
        .get(2)
        .is_some_and(|name| is_report(name) || is_word(name) || name == "--help" || name == "-h");
    if !named {
        let asks_for_page = |argument: &OsString| {
            let text = argument.to_string_lossy();
            text.split('=').next() == Some(HTML)
        };
        let is_page = arguments
            .iter()
            .take_while(|argument| *argument != "--")
            .any(asks_for_page);
        // `summary` is the first of the list.
        let name = if is_page { PAGE } else { REPORTS[0].name };
        arguments.insert(2, name.into());
    }
    arguments
}

/// The report of labels, as it was called before runs had tags.
const OLD_LABELS: &str = "tags";

/// Names a report as it is called now, and what to say of it.
pub(super) fn rename(arguments: &mut [OsString]) -> Option<String> {
    if arguments.get(1)? != "report" {
        return None;
    }
    let name = arguments.get_mut(2).filter(|name| *name == OLD_LABELS)?;
    *name = "labels".into();
    Some(format!(
        "report tags is now called report labels: {TAGS_OF_RUNS}"
    ))
}

/// Whether this can only be the name of a report: no flag, no file, and no set of runs but perhaps
/// a title.
fn is_word(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    let is_of_names = |character: char| character.is_alphabetic() || matches!(character, '_' | '-');
    !text.starts_with('-')
        && text.chars().all(is_of_names)
        && !matches!(text.parse(), Ok(RunSet::Latest))
        && !Path::new(argument).exists()
}

/// What to say of the name of a report that does not exist.
pub(super) fn unknown(arguments: &[OsString]) -> Option<String> {
    let name = arguments.get(2).filter(|_| arguments[1] == "report")?;
    let names: Vec<&str> = REPORTS
        .iter()
        .map(|report| report.name)
        .chain([STATE, diff_tree::TREE, diff_tree::PATHS, PAGE])
        .collect();
    let text = name.to_string_lossy();
    let is_known = is_name(&text) || text == "help" || !is_word(name);
    (!is_known).then(|| match instead_of(&text) {
        Some(instead) => format!("there is no report {text}: {instead}"),
        None => format!(
            "no report or file is called {text}{}; the reports are {}",
            near(&text, &names),
            names.join(", ")
        ),
    })
}

/// The reports whose names are most like a word that is none.
fn near(word: &str, names: &[&str]) -> String {
    let names = names.iter().map(ToString::to_string).collect();
    match suggestion("", word, names) {
        near if near.is_empty() => near,
        near => format!(" (is it {near}?)"),
    }
}

/// Whether a report can be asked for by this name.
fn is_name(text: &str) -> bool {
    let underscored = text.replace('-', "_");
    REPORTS.iter().any(|report| report.name == underscored)
        || [diff_tree::TREE, diff_tree::PATHS].contains(&underscored.as_str())
        || [STATE, SHOW, DASHBOARD, OLD_LABELS, PAGE].contains(&text)
}

/// Whether the next argument is the value of this one: it is a flag, perhaps cut short, that takes
/// a value.
fn takes_value(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    // The only flag of one letter that takes one.
    if text == "-o" {
        return true;
    }
    let Some(name) = text.strip_prefix("--").filter(|name| !name.contains('=')) else {
        return false;
    };
    let reports = command();
    let arguments = || reports.get_subcommands().flat_map(Command::get_arguments);
    let found = arguments().find(|known| known.get_long() == Some(name));
    let found = found.or_else(|| {
        arguments().find(|known| known.get_long().is_some_and(|long| long.starts_with(name)))
    });
    // A flag that no report has is complained of by clap; until then its next word is taken for its
    // value.
    found.is_none_or(|known| known.get_action().takes_values())
}
