//! Every case folder, as written: `tests/cases/<format>/<slug>/case.md` holds prose, commands and their exact output;
//! `case.in/` is the input, and the commands run in a copy of it. (An empty `case.out/` makes trycmd take that copy.)
//!
//! `TRYCMD=overwrite cargo test --test cases` writes what the commands have said into the files, to be read before it is
//! committed; `cargo test --test cases run -- trycmd=slug` runs some.

#![expect(clippy::disallowed_methods, reason = "small files of our own, and the PATH of commands")]

use std::path::{Path, PathBuf};
use std::{env, fs};

use profdb::importers::FORMATS;

/// Commands that may stand in a case. Trycmd passes over others without a word.
const COMMANDS: [&str; 2] = ["profdb", "sqlite3"];

/// The largest input that a case may bring, in bytes.
const LARGEST: u64 = 64 * 1024;

#[test]
fn run() {
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("profdb", Path::new(env!("CARGO_BIN_EXE_profdb")))
        .register_bin("sqlite3", sqlite3().as_path())
        // Neither the environment nor the settings of whoever runs the tests may be seen.
        .env("PROFDB_DB", "")
        .env("HOME", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .case("tests/cases/*/*/case.md");
    cases.run();
}

/// The stock shell: what is imported must be readable without our program.
fn sqlite3() -> PathBuf {
    let name = format!("sqlite3{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file());
    found
        .expect("the program `sqlite3` is not in PATH: install it (Debian: apt-get install sqlite3); the cases need it")
}

/// Trycmd takes a case without commands, with an unknown command or with elided output for a success.
#[test]
fn are_complete() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for format in folders(Path::new("tests/cases")) {
        let name = format.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Cases of the command line as a whole are in `cli`, those of writers in `export`, of reports in `reports`, and
        // `manual` is a tour.
        if !["cli", "export", "manual", "reports"].contains(&name) && !FORMATS.iter().any(|format| format.name == name)
        {
            wrong.push(format!("{}: there is no such format", format.display()));
        }
        for case in folders(&format) {
            cases += 1;
            wrong.extend(faults(&case).into_iter().map(|fault| format!("{}: {fault}", case.display())));
        }
    }
    assert!(cases > 0, "tests/cases has no cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn faults(case: &Path) -> Vec<String> {
    let Ok(text) = fs::read_to_string(case.join("case.md")) else {
        return vec!["expected a file case.md".to_owned()];
    };
    let mut faults = Vec::new();
    if !text.starts_with(char::is_alphabetic) {
        faults.push("expected a first paragraph that tells the point".to_owned());
    }
    if !text.lines().any(|line| line.starts_with("Provenance: ")) {
        faults.push("expected a paragraph that starts with `Provenance: `".to_owned());
    }
    for folder in ["case.in", "case.out"] {
        if !case.join(folder).is_dir() {
            faults.push(format!("expected a folder {folder}"));
        }
    }
    if case.join("case.out").is_dir() && files(&case.join("case.out")).iter().any(|file| !file.ends_with(".keep")) {
        faults.push("expected nothing in case.out: what is in the database is shown by commands".to_owned());
    }
    for file in files(&case.join("case.in")) {
        let bytes = fs::metadata(&file).map_or(u64::MAX, |file| file.len());
        if bytes > LARGEST {
            faults.push(format!("expected at most {LARGEST} bytes in {}, found {bytes}", file.display()));
        }
    }
    let mut commands = 0;
    let mut in_block = false;
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        if let Some(language) = line.strip_prefix("```") {
            in_block = !in_block;
            if in_block && language != "console" {
                faults.push(format!("line {at}: expected a block `console`, found {language:?}"));
            }
        } else if in_block && (line.contains("[..]") || line.trim() == "...") {
            faults.push(format!("line {at}: expected the exact output, found an elision"));
        } else if in_block && let Some(command) = line.strip_prefix("$ ") {
            commands += 1;
            if !COMMANDS.iter().any(|known| command.split(' ').next() == Some(known)) {
                faults.push(format!("line {at}: expected one of {COMMANDS:?}, found {command:?}"));
            }
        }
    }
    if commands == 0 {
        faults.push("expected commands".to_owned());
    }
    faults
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut found): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|path| path.is_dir());
    found.extend(folders.iter().flat_map(|folder| files(folder)));
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).map(|entries| entries.map(|entry| entry.expect("readable").path()).collect());
    let mut paths: Vec<PathBuf> = read.unwrap_or_default();
    paths.sort();
    paths
}
