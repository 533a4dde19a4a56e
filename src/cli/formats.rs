//! `profdb formats [NAME]`

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Args;

use super::failure::{Failure, complain};
use super::pager::{Lines, PagerArgs};
use crate::base::error::Stop;
use crate::formats::{self, EXPORTS, FORMATS};

/// Made from the pages of the importers; tests/repo/docs/mod.rs keeps it so.
const PAGES: &str = include_str!("../../docs/formats.md");

/// Made from the pages of the writers.
const EXPORT_PAGES: &str = include_str!("../../docs/export.md");

/// The heading of the table of profilers that have no format of their own.
const OTHERS: &str = "## Other profilers\n";

/// How what is said of files begins that can be read in no way.
const NOT_READ: &str = "profdb cannot import it; ";

/// How alike two names are if one may be meant by the other.
const ALIKE: f64 = 0.8;

#[derive(Debug, Args)]
pub(super) struct Formats {
    /// Format, profiler or language, such as py-spy
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    pager: PagerArgs,
}

pub(super) fn run(formats: &Formats, stop: &Stop) -> Result<(), Failure> {
    let target = formats.pager.target(Lines::Wrapped);
    let write = |text: &str| target.write(stop, |out| Ok(out.write_all(text.as_bytes())?));
    let Some(name) = &formats.name else {
        let mut list = String::new();
        for format in FORMATS {
            let _ = writeln!(list, "{:<16} {}", format.name, format.summary);
        }
        return write(&list);
    };
    match about(name) {
        Some(found) => write(&found),
        None => Err(complain(unknown(name), Failure::Usage)),
    }
}

/// What is said of a format, a profiler or a language; `None` of any other name.
fn about(name: &str) -> Option<Cow<'static, str>> {
    let wanted = name.to_lowercase().replace(['-', ' '], "_");
    let wanted = wanted.trim_end_matches('!');
    if formats::format_named(wanted).is_some() {
        return Some(page(PAGES, wanted).into());
    }
    if formats::export_named(wanted).is_some() {
        return Some(page(EXPORT_PAGES, wanted).into());
    }
    let found = about_profiler(name);
    (!found.is_empty()).then(|| found.into())
}

/// The part of a document that is about one format.
fn page(pages: &'static str, name: &str) -> &'static str {
    let heading = format!("## {name}\n");
    let start = pages.find(&heading).unwrap_or(pages.len());
    let rest = &pages[start..];
    let end = rest[heading.len().min(rest.len())..]
        .find("\n## ")
        .map_or(rest.len(), |end| end + heading.len() + 1);
    &rest[..end]
}

/// A profiler without a format of its own.
struct Profiler {
    /// As the table writes it: `py-spy (Python)`, `Bun, Deno`.
    name: String,
    /// What to run, in words and commands.
    record: String,
    /// The formats that come of it.
    formats: Vec<&'static str>,
}

/// The rows of the table of other profilers.
fn profilers() -> impl Iterator<Item = Profiler> {
    let start = PAGES.find(OTHERS).unwrap_or(PAGES.len());
    let rows = PAGES[start..].lines().filter_map(|line| {
        let cells: Vec<&str> = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split(" | ")
            .collect();
        let [name, record, formats] = cells.as_slice() else {
            return None;
        };
        Some(Profiler {
            name: name.replace('`', ""),
            record: without_links(record),
            formats: formats.split('`').skip(1).step_by(2).collect(),
        })
    });
    // The title of the table names no formats.
    rows.filter(|row| !row.formats.is_empty())
}

/// Text of a document as a terminal shows it: links within the document are to formats.
fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((said, (to, after))) = link
            .split_once("](")
            .and_then(|(said, to)| Some((said, to.split_once(')')?)))
        else {
            break;
        };
        shown.push_str(before);
        let _ = match to.strip_prefix('#') {
            Some(format) => write!(shown, "{said} (`profdb formats {format}`)"),
            None => write!(shown, "{said} ({to})"),
        };
        rest = after;
    }
    shown + rest
}

/// What people call a language or a profiler, in small letters, and the names that lead to what is known of
/// it: of profilers, of formats, or words of what these say of themselves.
const OTHER_NAMES: &[(&[&str], &[&str])] = &[
    (&["node", "nodejs", "javascript", "js"], &["Node.js"]),
    (&["haskell"], &["GHC"]),
    (&["lisp", "common lisp"], &["LispWorks", "SBCL"]),
    (
        &[
            "jfr",
            "flight recorder",
            "java flight recorder",
            "jvm",
            "jdk",
        ],
        &["Java"],
    ),
    (
        &["c", "c++", "cpp", "cxx", "gcc"],
        &["perf", "callgrind", "gprof", "C++", "C"],
    ),
    (&["dotnet", ".net", "c#", "csharp", "f#"], &["dotnet-trace"]),
    (&["rust"], &["perf", "samply", "Rust"]),
    (&["golang"], &["Go"]),
    (&["py", "python3", "cpython"], &["Python"]),
    (&["clang", "llvm"], &["perf", "clang", "C++"]),
];

/// What a shell may offer as the name of a format, a profiler or a language: what has no blank, which would part it.
pub(super) fn names_to_offer() -> BTreeSet<String> {
    let formats = FORMATS.iter().map(|format| format.name);
    let formats = formats.chain(EXPORTS.iter().map(|export| export.name));
    let languages = OTHER_NAMES.iter().flat_map(|(names, _)| *names);
    let known = formats.chain(languages.copied()).map(str::to_owned);
    let profilers = profilers().flat_map(|one| {
        let name = one.name.to_lowercase();
        let names = name.split(" (").next().unwrap_or_default().split(", ");
        names.map(str::to_owned).collect::<Vec<_>>()
    });
    let is_word = |name: &String| {
        let mut letters = name.chars();
        letters.all(|letter| letter.is_ascii_alphanumeric() || "_-+.".contains(letter))
    };
    known.chain(profilers).filter(is_word).collect()
}

/// The names under which something is looked for.
fn names_of(name: &str) -> Vec<&str> {
    let small = name.to_lowercase();
    let other = OTHER_NAMES
        .iter()
        .find(|(names, _)| names.contains(&small.as_str()));
    other.map_or_else(|| vec![name], |(_, known)| known.to_vec())
}

impl Profiler {
    /// Whether this is a name of it, or of the language that it is for.
    fn is_called(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let whole = self.name.to_lowercase();
        let without_language = whole.split(" (").next().unwrap_or_default();
        name == whole || name == without_language || words(&whole).any(|word| word == name)
    }
}

/// The words of a name in small letters: `ghc` of `GHC's eventlog`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split([' ', ',', '(', ')'])
        .map(|word| word.trim_end_matches("'s"))
        .filter(|word| !word.is_empty())
}

/// What is said of a profiler, of those of a language, or of a file that profdb does not read;
/// empty if nothing is.
fn about_profiler(name: &str) -> String {
    let mut text = String::new();
    let names = names_of(name);
    let in_summary = |summary: &str| {
        let summary = summary.to_lowercase();
        let mut words = summary
            .split([' ', ',', ':', ';', '(', ')', '`'])
            .map(|word| word.trim_end_matches("'s"));
        words.any(|word| names.iter().any(|name| word == name.to_lowercase()))
    };
    let is_called = |one: &Profiler| names.iter().any(|name| one.is_called(name));
    let named: Vec<Profiler> = profilers().filter(is_called).collect();
    let own: Vec<_> = FORMATS
        .iter()
        .filter(|format| names.contains(&format.name) || in_summary(format.summary))
        .filter(|format| !named.iter().any(|one| one.formats.contains(&format.name)))
        .collect();
    for Profiler {
        name,
        record,
        formats,
    } in &named
    {
        let _ = writeln!(text, "{name}: {record}");
        let _ = writeln!(
            text,
            "{}: {}.",
            if formats.len() == 1 {
                "Format"
            } else {
                "Formats"
            },
            formats.join(", ")
        );
    }
    for format in &own {
        let _ = writeln!(text, "{}: {}", format.name, format.summary);
    }
    let known = named.iter().flat_map(|one| one.formats.iter().copied());
    let known: Vec<&str> = known.chain(own.iter().map(|format| format.name)).collect();
    if let Some(first) = known.first() {
        let _ = writeln!(
            text,
            "`profdb FILE` shows such a file, `profdb import FILE` stores it, and `profdb formats {first}` describes \
             the format."
        );
    }
    let foreign = names.iter().flat_map(|name| formats::about_foreign(name));
    let mut said = Vec::new();
    for (what, instead) in foreign {
        if said.contains(&(what, instead)) {
            continue;
        }
        said.push((what, instead));
        // That it is not read is said already.
        let instead = instead.strip_prefix(NOT_READ).unwrap_or(instead);
        let _ = writeln!(text, "profdb cannot import {what}: {instead}.");
    }
    text
}

/// What to say of a name that is neither a format nor a profiler.
fn unknown(name: &str) -> String {
    let wanted = name.to_lowercase();
    let profilers: Vec<String> = profilers().map(|one| one.name.to_lowercase()).collect();
    let known = FORMATS
        .iter()
        .map(|format| format.name)
        .chain(EXPORTS.iter().map(|export| export.name))
        .chain(profilers.iter().flat_map(|name| words(name)));
    let nearest = known
        .map(|known| (strsim::jaro_winkler(&wanted, known), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)));
    let hint = nearest.map_or_else(String::new, |(_, known)| format!("is it {known}? "));
    format!("no format or profiler is called {name}: {hint}`profdb formats` lists the formats")
}
