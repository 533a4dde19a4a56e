//! The pages of docs/recipes: what they tell a reader to type is typed here, as far as the tools can be had.
//!
//! A comment before a fenced block says what it is:
//!
//! - `<!-- file: work.py -->`: a file of the reader's, which later blocks of the page find in their folder.
//! - `<!-- run -->`: commands that must succeed. `<!-- run: needs go, perf -->` names what has to be installed, without which the
//!   rest of the section is not tried; `<!-- run: answers fib, main -->` says what must be found in what is printed.
//! - `<!-- not run: REASON -->`: commands that no test can try.
//! - `<!-- with: tests/x/y as z -->` on a line of its own: a sample takes the place of a recording.
//!
//! Each section is run in a folder of its own.

#![expect(
    clippy::disallowed_methods,
    reason = "reads pages of the repository, and finds the programs that they name"
)]

use crate::support::program::PROFDB;
use crate::support::tools;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a page says, in its order.
enum Item {
    Section,
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

/// A page as items. Every block of commands must say whether it is run.
fn items(page: &str) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let mut mark = None;
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("## ") {
            items.push(Item::Section);
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

/// `PATH` with the program that is tested before all others.
fn path() -> OsString {
    let profdb = Path::new(PROFDB)
        .parent()
        .expect("a program is in a folder");
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(profdb.to_owned()).chain(std::env::split_paths(&others)))
        .expect("no folder has a colon")
}

/// Whether something is there that a page needs. Noted where it is not.
fn is_there(need: &str) -> bool {
    let asks = |program: &str, arguments: &[&str]| {
        let command = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        command.is_ok_and(|status| status.success())
    };
    match need {
        "stackprof" => {
            let there = asks("ruby", &["-e", "require 'stackprof'"]);
            if !there {
                tools::not_tried_here("Ruby's stackprof");
            }
            there
        }
        "php" => {
            let there = tools::find("php").is_some()
                && asks("php", &["-r", "exit(extension_loaded('xdebug') ? 0 : 1);"]);
            if !there {
                tools::not_tried_here("PHP with Xdebug");
            }
            there
        }
        "perf" => {
            let Some(_) = tools::find("perf") else {
                return false;
            };
            // Containers and kernels forbid it, whatever is installed.
            let allowed = asks(
                "perf",
                &["record", "--quiet", "--output", "/dev/null", "true"],
            );
            if !allowed {
                tools::not_possible_here("perf record");
            }
            allowed
        }
        program => tools::find(program).is_some(),
    }
}

/// Does what a page says.
fn follow(page: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/recipes").join(page))
        .unwrap_or_else(|error| panic!("{page}: {error}"));
    let items = items(&text).unwrap_or_else(|error| panic!("docs/recipes/{page}: {error}"));
    let mut files: Vec<(&String, &String)> = Vec::new();
    let mut folder = tempfile::tempdir().expect("a folder for the page");
    let (mut tried, mut left_out) = (0, false);
    let fresh = |files: &[(&String, &String)]| {
        let folder = tempfile::tempdir().expect("a folder for a section");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("the reader's file");
        }
        folder
    };
    for item in &items {
        match item {
            Item::Section => {
                folder = fresh(&files);
                left_out = false;
            }
            Item::File { name, text } => {
                fs::write(folder.path().join(name), text).expect("the reader's file");
                files.push((name, text));
            }
            Item::Sample { from, to } => {
                let from: PathBuf = root.join(from);
                fs::copy(&from, folder.path().join(to))
                    .unwrap_or_else(|error| panic!("{page}: {}: {error}", from.display()));
                left_out = false;
            }
            Item::Commands {
                text,
                needs,
                answers,
            } => {
                left_out |= !needs.iter().all(|need| is_there(need));
                if left_out {
                    continue;
                }
                tried += 1;
                let output = Command::new("/bin/sh")
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
                assert!(
                    output.status.success(),
                    "docs/recipes/{page}: {text}\n{out}\n{err}"
                );
                for word in answers {
                    assert!(
                        out.contains(word.as_str()),
                        "docs/recipes/{page}: {text}\nexpected `{word}` in\n{out}"
                    );
                }
            }
        }
    }
    assert!(
        tried > 0 || left_out,
        "docs/recipes/{page}: nothing of it is run"
    );
}

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            #[cfg(unix)]
            fn $name() {
                follow($page);
            }
        )*
    };
}

pages! {
    business_rules_is_followed: "business-rules.md",
    cpp_is_followed: "cpp.md",
    dyalog_is_followed: "dyalog.md",
    ghc_is_followed: "ghc.md",
    ghc_old_is_followed: "ghc-old.md",
    go_is_followed: "go.md",
    java_is_followed: "java.md",
    lispworks_is_followed: "lispworks.md",
    node_is_followed: "node.md",
    php_is_followed: "php.md",
    python_is_followed: "python.md",
    ruby_is_followed: "ruby.md",
    rust_is_followed: "rust.md",
    sbcl_is_followed: "sbcl.md",
}

#[test]
#[cfg(unix)]
fn the_page_on_comparing_is_followed() {
    follow("../comparing.md");
}

#[test]
#[cfg(unix)]
fn the_page_on_gates_is_followed() {
    follow("../gate.md");
}

#[test]
fn every_recipe_is_followed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes");
    let mut pages: Vec<String> = fs::read_dir(folder)
        .expect("the folder of recipes")
        .map(|entry| {
            entry
                .expect("a page")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    pages.sort();
    let mut tried: Vec<&str> = PAGES.to_vec();
    tried.sort_unstable();
    assert_eq!(pages, tried);
}

#[test]
fn a_block_of_commands_without_a_mark_is_refused() {
    assert!(items("```sh\nprofdb runs\n```\n").is_err());
    assert!(items("<!-- run: wants go -->\n```sh\nprofdb runs\n```\n").is_err());
    assert!(items("<!-- run -->\n```sh\nprofdb runs\n```\n").is_ok());
}
