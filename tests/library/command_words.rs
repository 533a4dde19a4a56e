//! Words of the command line: those of other tools, names of formats and tables, and messages about files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use profdb::cli::program;
use profdb::formats::{export_named, format_named};

use crate::support::program::command;

/// Sources with tables of words of other tools.
const FIRST_WORD: &str = include_str!("../../src/cli/first_word.rs");
const OTHER_FLAGS: &str = include_str!("../../src/cli/other_flags.rs");

/// Documents that the program shows in parts.
const FORMAT_PAGES: &str = include_str!("../../docs/formats.md");
const SCHEMA: &str = include_str!("../../docs/schema.md");

/// The command line, which takes long to make.
static PROGRAM: LazyLock<clap::Command> = LazyLock::new(program);

fn run(folder: &Path, words: &[&str]) -> Output {
    let mut command = command();
    command.args(words).current_dir(folder);
    command.output().expect("the program")
}

/// Returns what a command prints.
fn printed(words: &[&str]) -> String {
    let done = run(Path::new("."), words);
    assert!(done.status.success(), "{words:?}: {done:?}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// Returns the texts of a table in a source file, row by row.
fn table(source: &'static str, name: &str) -> Vec<Vec<String>> {
    let start = source.find(&format!("const {name}: ")).expect("a table");
    let end = source[start..].find("\n];").expect("an end");
    let rows = source[start..start + end].split("\n    (").skip(1);
    rows.map(|row| {
        let texts = row.split('"').skip(1).step_by(2);
        texts
            .map(|text| {
                let lines: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
                lines.concat()
            })
            .collect()
    })
    .collect()
}

fn is_report(word: &str) -> bool {
    let reports = PROGRAM.find_subcommand("report");
    reports.is_some_and(|reports| reports.find_subcommand(word).is_some())
}

/// Adds the words that the program adds itself: a file as the first word is shown, and the report is the summary or a page.
fn with_report(mut words: Vec<String>) -> Vec<OsString> {
    if PROGRAM.find_subcommand(&words[1]).is_none() && words[1] != "help" {
        words.insert(1, "report".to_owned());
    }
    if words[1] == "report" && words.get(2).is_none_or(|word| !is_report(word)) {
        let is_page = words.iter().any(|word| word == "--html");
        words.insert(2, if is_page { "page" } else { "summary" }.to_owned());
    }
    words.into_iter().map(OsString::from).collect()
}

/// Returns the commands that a message proposes, with values in the places of their placeholders.
fn proposed(message: &str) -> Vec<Vec<OsString>> {
    let quoted = message.split('`').skip(1).step_by(2);
    let commands = quoted.filter(|quoted| quoted.starts_with("profdb "));
    commands
        .map(|command| {
            let command = command
                .replace("'SELECT ...'", "SELECT")
                .replace("--format NAME", "--format folded")
                .replace("--to NAME", "--to folded")
                .replace("SHELL", "bash")
                .replace("--keep N", "--keep 3")
                .replace("KEY=VALUE", "k=v")
                .replace("KEY", "k")
                .replace("RUN", "1");
            with_report(command.split(' ').map(str::to_owned).collect())
        })
        .collect()
}

fn parses(words: &[OsString]) {
    if let Err(error) = PROGRAM.clone().try_get_matches_from(words)
        && error.use_stderr()
    {
        panic!("{words:?}: {error}");
    }
}

#[test]
fn word_of_another_tool_proposes_a_command_that_exists() {
    let rows = table(FIRST_WORD, "OTHER_WORDS");
    assert!(rows.len() > 15, "{rows:?}");
    for row in rows {
        let (message, words) = row.split_last().expect("a message");
        assert!(!words.is_empty(), "{message}");
        for word in words {
            assert!(
                PROGRAM.find_subcommand(word).is_none(),
                "{word} is a command"
            );
        }
        let commands = proposed(message);
        assert!(!commands.is_empty(), "{message}");
        for command in commands {
            parses(&command);
        }
    }
}

#[test]
fn flag_of_another_tool_proposes_a_command_that_exists() {
    let rows = table(OTHER_FLAGS, "OTHER_FLAGS");
    let commands: Vec<Vec<OsString>> = rows
        .iter()
        .flat_map(|row| proposed(row.last().expect("a message")))
        .collect();
    assert!(rows.len() > 8 && commands.len() > 8, "{rows:?}");
    for command in commands {
        parses(&command);
    }
}

#[test]
fn synonym_of_a_flag_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.folded"), "main;a 5\n").expect("a file");
    let rows = table(OTHER_FLAGS, "SYNONYMS");
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let [synonym, own] = row.as_slice() else {
            panic!("{row:?}");
        };
        let value = match own.as_str() {
            "--by" => Some("module"),
            "--first" => Some("3"),
            "--metric" => Some("samples"),
            _ => None,
        };
        let mut words = vec!["report", "summary", "p.folded", synonym];
        words.extend(value);
        let done = run(folder.path(), &words);
        // The profile knows no modules.
        let code = if own == "--by" { 4 } else { 0 };
        assert_eq!(done.status.code(), Some(code), "{words:?}: {done:?}");
    }
}

#[test]
fn every_example_of_help_is_parsed() {
    let mut commands = vec![PROGRAM.clone()];
    let mut parsed = 0;
    while let Some(command) = commands.pop() {
        let help = command.get_after_long_help().map(ToString::to_string);
        for line in help.unwrap_or_default().lines() {
            let example = line.strip_prefix("  ");
            let Some(example) = example.filter(|line| line.starts_with("profdb ")) else {
                continue;
            };
            let words = shlex::split(example).expect("words of a shell");
            let words = words.into_iter();
            let words: Vec<String> = words
                .take_while(|word| !["<", ">", "|"].contains(&word.as_str()))
                .collect();
            parses(&with_report(words));
            parsed += 1;
        }
        commands.extend(command.get_subcommands().cloned());
    }
    assert!(parsed > 60, "{parsed} examples");
}

#[test]
fn number_of_a_system_error_is_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, shown) in [
        ("a.xml", "a.xml"),
        ("(os error 2) (os error 3)", "(os error 2)"),
        (
            "a (os error x) b (os error 5",
            "a (os error x) b (os error 5",
        ),
    ] {
        let done = run(folder.path(), &["dump", file]);
        assert_eq!(
            String::from_utf8(done.stderr).expect("UTF-8"),
            format!("profdb: {shown}: cannot open it: No such file or directory\n")
        );
    }
}

/// A row of the table of profilers without a format of their own.
struct Profiler {
    name: String,
    /// The start of the instructions, up to the first link.
    record: String,
    formats: Vec<String>,
}

fn profilers() -> Vec<Profiler> {
    let start = FORMAT_PAGES.find("## Other profilers\n").expect("a table");
    let rows = FORMAT_PAGES[start..].lines().filter_map(|line| {
        let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let [name, record, formats] = row.split(" | ").collect::<Vec<_>>()[..] else {
            return None;
        };
        let formats = formats.split('`').skip(1).step_by(2);
        Some(Profiler {
            name: name.replace('`', ""),
            record: record.split('[').next().unwrap_or_default().to_owned(),
            formats: formats.map(str::to_owned).collect(),
        })
    });
    rows.filter(|row| !row.formats.is_empty()).collect()
}

/// Returns the names that lead to a profiler: its name without the language, and the words of both.
fn names_of(profiler: &Profiler) -> BTreeSet<String> {
    let name = profiler.name.to_lowercase();
    let words = name
        .split([' ', ',', '(', ')'])
        .map(|word| word.trim_end_matches("'s"));
    let without_language = name.split(" (").next();
    without_language
        .into_iter()
        .chain(words)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_name_of_a_profiler_is_explained() {
    let profilers = profilers();
    assert!(profilers.len() > 25, "{}", profilers.len());
    // Bash completes these names.
    let script = printed(&["completions", "bash"]);
    let offered = script.lines().find(|line| {
        let words: Vec<&str> = line.split([' ', '"']).collect();
        ["py-spy", "pstats", "node"]
            .iter()
            .all(|name| words.contains(name))
    });
    let offered = offered.expect("names of formats").split(['"', ' ']);
    // Formats have pages of their own.
    let has_page = |name: &str| {
        let name = name.replace('-', "_");
        format_named(&name).is_some() || export_named(&name).is_some()
    };
    let is_name =
        |name: &&str| !name.is_empty() && !name.starts_with('-') && !name.starts_with("opts");
    let mut names: BTreeSet<String> = offered.filter(is_name).map(str::to_owned).collect();
    names.extend(profilers.iter().flat_map(names_of));
    names.retain(|name| !has_page(name));
    assert!(names.len() > 60, "{names:?}");
    for name in names {
        let shown = printed(&["formats", "--", &name]);
        assert!(!shown.is_empty(), "{name}");
        let named = profilers
            .iter()
            .filter(|profiler| names_of(profiler).contains(&name));
        for profiler in named {
            let start = format!("{}: {}", profiler.name, profiler.record);
            assert!(shown.contains(&start), "{name}: {shown}");
            for format in &profiler.formats {
                assert!(format_named(format).is_some(), "{format}");
                assert!(shown.contains(format), "{name}: {shown}");
            }
        }
    }
}

#[test]
fn schema_shows_the_section_of_a_table_or_view() {
    let schema = PROGRAM.find_subcommand("schema").expect("a command");
    let mut arguments = schema.get_arguments();
    let name = arguments
        .find(|argument| argument.get_id() == "name")
        .expect("an argument");
    let names = name.get_possible_values();
    let names: Vec<&str> = names.iter().map(PossibleValue::get_name).collect();
    assert!(
        names.contains(&"summary") && names.contains(&"runs"),
        "{names:?}"
    );
    for name in &names {
        let start = SCHEMA
            .find(&format!("\n### {name}\n\n"))
            .expect("a section")
            + 1;
        let section = &SCHEMA[start..];
        let section = &section[..section.find("\n\n##").map_or(section.len(), |end| end + 1)];
        assert!(section.contains("\n| "), "{section}");
        assert!(
            section.ends_with('\n') && !section.ends_with("\n\n"),
            "{section}"
        );
        assert_eq!(section.matches("\n#").count(), 0, "{section}");
        // The first, the last and one between them.
        if [names[0], "summary", names[names.len() - 1]].contains(name) {
            assert_eq!(printed(&["schema", name]), section);
        }
    }
    let unknown = run(Path::new("."), &["schema", "sumary"]);
    assert_eq!(unknown.status.code(), Some(2));
}
