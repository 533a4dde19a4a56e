//! The recipes of docs/recipes, docs/comparing.md and docs/gate.md: a test runs their commands.
//!
//! A comment before a fenced block marks it:
//!
//! - `<!-- file: work.py -->`: a file that later blocks of the page find in their folder.
//! - `<!-- run -->`: commands that must succeed. `<!-- run: needs go, perf -->` names the tools that
//!   they need; `<!-- run: answers fib, main -->` names text that their output must contain.
//! - `<!-- not run: REASON -->`: commands that no test can run.
//! - `<!-- with: tests/x/y as z -->` on a line of its own: a sample takes the place of a recording.
//!
//! Each part of a section is a trial: a part starts at a sample or at a block that needs tools.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "reads pages of the repository")]

use crate::support::program::PROFDB;
use crate::support::{harness, tools};
use libtest_mimic::Trial;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// An element of a page.
#[derive(Clone)]
enum Item {
    /// The heading of a section.
    Section(String),
    File {
        name: String,
        text: String,
    },
    Sample {
        from: String,
        to: String,
    },
    Commands {
        text: String,
        needs: Vec<String>,
        answers: Vec<String>,
    },
}

/// Returns the items of a page. Every block of commands must have a mark.
fn items(page: &str) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let mut mark = None;
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            items.push(Item::Section(title.to_owned()));
        } else if let Some(comment) = line
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"))
        {
            if let Some(sample) = comment.strip_prefix("with: ") {
                let (from, to) = sample
                    .split_once(" as ")
                    .ok_or(format!("line {}: expected `FILE as NAME`", number + 1))?;
                items.push(Item::Sample {
                    from: from.to_owned(),
                    to: to.to_owned(),
                });
            } else {
                mark = Some(comment.to_owned());
            }
        } else if let Some(language) = line.strip_prefix("```") {
            let text: String = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| *line != "```")
                .flat_map(|line| [line, "\n"])
                .collect();
            match (mark.take().as_deref(), language) {
                (Some(mark), _) if mark.starts_with("file: ") => {
                    items.push(Item::File {
                        name: mark["file: ".len()..].to_owned(),
                        text,
                    });
                }
                (Some(mark), "sh") if mark == "run" || mark.starts_with("run: ") => {
                    items.push(
                        commands(text, &mark["run".len()..])
                            .map_err(|error| format!("line {}: {error}", number + 1))?,
                    );
                }
                (Some(mark), "sh") if mark.starts_with("not run: ") => {}
                (None, language) if language != "sh" => {}
                (mark, _) => {
                    return Err(format!(
                        "line {}: expected a mark that says whether this is run, found {mark:?}",
                        number + 1
                    ));
                }
            }
        }
    }
    Ok(items)
}

fn commands(text: String, mark: &str) -> Result<Item, String> {
    let list = |words: &str| words.split(", ").map(str::to_owned).collect();
    let (mut needs, mut answers) = (Vec::new(), Vec::new());
    for part in mark
        .trim_start_matches(": ")
        .split("; ")
        .filter(|part| !part.is_empty())
    {
        match part.split_once(' ') {
            Some(("needs", words)) => needs = list(words),
            Some(("answers", words)) => answers = list(words),
            _ => return Err(format!("expected `needs` or `answers`, found `{part}`")),
        }
    }
    Ok(Item::Commands {
        text,
        needs,
        answers,
    })
}

/// Returns `PATH` with profdb first, then the toolchain: its proxies do not work with another `HOME`.
fn path() -> OsString {
    let ours = [PROFDB, env!("CARGO")].map(|program| {
        let folder = Path::new(program).parent();
        folder.expect("a program is in a folder").to_owned()
    });
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&others)))
        .expect("no folder has a colon")
}

/// Items that a trial runs in a folder of its own.
struct Part {
    name: String,
    items: Vec<Item>,
}

/// Divides a page into parts.
///
/// A part includes the files that the page has so far and the earlier parts of its section. After a
/// sample, it includes those parts only that need no tool.
fn parts(page: &str, items: &[Item]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut files = Vec::new();
    for section in items.chunk_by(|_, next| !matches!(next, Item::Section(_))) {
        let mut title = "start".to_owned();
        let mut groups: Vec<Vec<Item>> = Vec::new();
        for item in section {
            let has_commands = groups
                .last()
                .is_some_and(|group| group.iter().any(is_commands));
            let is_start = groups.is_empty() || has_commands && starts_part(item);
            match item {
                Item::Section(text) => title = text.to_lowercase().replace(' ', "_"),
                Item::File { .. } => files.push(item.clone()),
                item if is_start => groups.push(vec![item.clone()]),
                item => groups.last_mut().expect("not empty").push(item.clone()),
            }
        }
        groups.retain(|group| group.iter().any(is_commands));
        for (at, group) in groups.iter().enumerate() {
            let is_sample = matches!(group[0], Item::Sample { .. });
            let before = groups[..at].iter();
            let before = before.filter(|group| !is_sample || !group.iter().any(needs_tools));
            let mut items = files.clone();
            items.extend(before.chain([group]).flatten().cloned());
            let name = format!("recipes::{page}/{title}/{}", at + 1);
            parts.push(Part { name, items });
        }
    }
    parts
}

fn is_commands(item: &Item) -> bool {
    matches!(item, Item::Commands { .. })
}

fn needs_tools(item: &Item) -> bool {
    matches!(item, Item::Commands { needs, .. } if !needs.is_empty())
}

fn starts_part(item: &Item) -> bool {
    matches!(item, Item::Sample { .. }) || needs_tools(item)
}

/// Skips the test if a tool of a page is missing.
fn require(need: &str) {
    match need {
        "stackprof" => {
            let mut ruby = tools::command("ruby");
            ruby.args(["-e", "require 'stackprof'"]);
            tools::require_success(ruby, "Ruby's stackprof", "gem stackprof");
        }
        "php" => {
            let mut php = tools::command("php");
            php.args(["-r", "exit(extension_loaded('xdebug') ? 0 : 1);"]);
            tools::require_success(php, "PHP with Xdebug", "php-xdebug");
        }
        "perf" => {
            let mut perf = tools::command("perf");
            perf.args(["record", "--quiet", "--output", "/dev/null", "true"]);
            // Containers and kernels forbid it, whatever is installed.
            if !perf.output().is_ok_and(|output| output.status.success()) {
                tools::skip_unsupported("perf record");
            }
        }
        program => drop(tools::require(program)),
    }
}

/// Runs the items of a part.
fn follow(items: &[Item]) {
    for item in items {
        if let Item::Commands { needs, .. } = item {
            for need in needs {
                require(need);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    for item in items {
        match item {
            Item::Section(_) => {}
            Item::File { name, text } => {
                fs::write(folder.path().join(name), text).expect("a file");
            }
            Item::Sample { from, to } => {
                fs::copy(root.join(from), folder.path().join(to))
                    .unwrap_or_else(|error| panic!("{from}: {error}"));
            }
            Item::Commands { text, answers, .. } => {
                let output = tools::shell()
                    .args(["-e", "-c", text])
                    .current_dir(folder.path())
                    .env("PATH", path())
                    .env("HOME", folder.path())
                    .env("GOFLAGS", "-mod=mod")
                    .env_remove("PROFDB_DB")
                    .stdin(Stdio::null())
                    .output()
                    .expect("every Unix has a shell");
                let (out, err) = (
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr),
                );
                assert!(output.status.success(), "{text}\n{out}\n{err}");
                for word in answers {
                    assert!(
                        out.contains(word.as_str()),
                        "{text}\nexpected `{word}` in\n{out}"
                    );
                }
            }
        }
    }
}

/// Returns a trial for each part of each page.
pub(crate) fn trials() -> Vec<Trial> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let recipes = fs::read_dir(docs.join("recipes")).expect("a folder");
    let mut pages: Vec<_> = recipes.map(|entry| entry.expect("a page").path()).collect();
    pages.extend(["comparing.md", "gate.md"].map(|name| docs.join(name)));
    let mut trials = Vec::new();
    for page in pages {
        let name = page.file_stem().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&page).expect("a page");
        match items(&text).map(|items| parts(&name, &items)) {
            Ok(parts) if !parts.is_empty() => {
                trials.extend(parts.into_iter().map(|Part { name, items }| {
                    harness::trial(name, move || {
                        follow(&items);
                        Ok(())
                    })
                }));
            }
            Ok(_) => trials.push(failure(&name, "expected commands that are run".to_owned())),
            Err(error) => trials.push(failure(&name, error)),
        }
    }
    trials
}

/// Returns a trial that fails.
fn failure(page: &str, message: String) -> Trial {
    harness::trial(format!("recipes::{page}"), move || Err(message.into()))
}

#[test]
fn block_of_commands_without_a_mark_is_refused() {
    assert!(items("```sh\nprofdb runs\n```\n").is_err());
    assert!(items("<!-- run: wants go -->\n```sh\nprofdb runs\n```\n").is_err());
    assert!(items("<!-- run -->\n```sh\nprofdb runs\n```\n").is_ok());
}

#[test]
fn part_that_needs_a_tool_is_separate() {
    let page = "<!-- file: f -->\n```\nx\n```\n## One\n<!-- with: a as b -->\n<!-- run -->\n```sh\n1\n```\n\
                <!-- run: needs go -->\n```sh\n2\n```\n<!-- with: c as d -->\n<!-- run -->\n```sh\n3\n```\n";
    let found: Vec<(String, String)> = parts("p", &items(page).expect("marks"))
        .into_iter()
        .map(|part| {
            let shown = part.items.iter().map(|item| match item {
                Item::Section(_) => "#",
                Item::File { name, .. } => name.as_str(),
                Item::Sample { to, .. } => to.as_str(),
                Item::Commands { text, .. } => text.trim(),
            });
            (part.name.clone(), shown.collect())
        })
        .collect();
    let expected = [("1", "fb1"), ("2", "fb12"), ("3", "fb1d3")];
    let expected = expected.map(|(at, shown)| (format!("recipes::p/one/{at}"), shown.to_owned()));
    assert_eq!(found, expected);
}
