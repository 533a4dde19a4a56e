//! The name of a database is a path, whatever it looks like to SQLite: every command finds the same
//! file.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use profdb::cli::program;

use crate::support::faults::{csv, entries, profdb, text};

/// What SQLite takes for memory or a URI, and what would be other names in one.
const NAMES: [&str; 8] = [
    ":memory:",
    "file:x.db",
    "file:x.db?mode=ro",
    "file:x.db?mode=memory&cache=shared",
    "file::memory:",
    "FILE:x.db",
    "x%20y.db?vfs=none#z",
    "two words",
];

/// Each command that opens a database; `DB` is its name, and `OTHER` one that is merged into it.
const COMMANDS: [&[&str]; 20] = [
    &["import", "--db", "DB", "a.csv"],
    &["import", "--db", "DB", "b.csv"],
    &["import", "--db", "DB", "a.csv"],
    &["sql", "--db", "DB", "SELECT run_id, source_name FROM runs"],
    &["report", "summary", "--db", "DB"],
    &["export", "--format", "folded", "--db", "DB", "1"],
    &["tag", "--db", "DB", "1", "reviewed=yes"],
    &["convert", "--db", "DB", "--to", "folded", "latest"],
    &["show", "--db", "DB", "1"],
    &["diff", "--db", "DB", "1", "2"],
    &["history", "--db", "DB"],
    &["steps", "--db", "DB"],
    &["gate", "--db", "DB", "--budget", "perf.budget", "1", "2"],
    &["check", "--db", "DB"],
    &["delete", "--db", "DB", "1"],
    &["compact", "--db", "DB"],
    &["identify", "--db", "DB"],
    &["runs", "--db", "DB"],
    &["merge", "DB", "other.db"],
    &["merge", "made.db", "DB"],
];

/// What commands say of a database, where its name is taken for the path that it is.
fn told(name: &str, arguments: &[&str], folder: &std::path::Path) -> (String, Option<i32>) {
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| if *argument == "DB" { name } else { argument })
        .collect();
    let done: Output = profdb(folder, &arguments)
        .output()
        .expect("the program is there");
    // The time of an import is another each time.
    let plain = |bytes: &[u8]| {
        let lines = text(bytes).replace(name, "DB");
        let lines = lines.lines().map(|line| {
            let is_time = |word: &&str| !(word.len() == 20 && word.ends_with('Z'));
            line.split_whitespace()
                .filter(is_time)
                .collect::<Vec<_>>()
                .join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    (
        format!("{}\n{}", plain(&done.stdout), plain(&done.stderr)),
        done.status.code(),
    )
}

fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, rows) in [("a.csv", 10), ("b.csv", 2500), ("c.csv", 20)] {
        fs::write(folder.path().join(name), csv(rows, 5)).expect("space on the disk");
    }
    fs::write(folder.path().join("perf.budget"), "total <= 1000 s\n").expect("a file");
    let done = profdb(folder.path(), &["import", "--db", "other.db", "c.csv"])
        .output()
        .expect("the program is there");
    assert!(done.status.success());
    folder
}

#[test]
fn names_are_paths_for_every_command() {
    let plain = place();
    let expected: Vec<_> = COMMANDS
        .iter()
        .map(|arguments| told("x.db", arguments, plain.path()))
        .collect();
    for (arguments, (said, code)) in COMMANDS.iter().zip(&expected) {
        assert_eq!(*code, Some(0), "{arguments:?}: {said}");
    }
    for name in NAMES {
        let folder = place();
        for (arguments, expected) in COMMANDS.iter().zip(&expected) {
            assert_eq!(
                &told(name, arguments, folder.path()),
                expected,
                "{name:?}: {arguments:?}"
            );
        }
        let mut there: BTreeSet<String> = entries(plain.path());
        assert!(there.remove("x.db") && there.insert(name.to_owned()));
        assert_eq!(entries(folder.path()), there, "{name:?}");
        // A path to it is another name of the same file, and so is what the environment says.
        let path = format!("./{name}");
        let (said, code) = told(&path, &["runs", "--db", "DB"], folder.path());
        assert!(
            code == Some(0) && said.contains("b.csv") && said.contains("c.csv"),
            "{name:?}: {said}"
        );
        let done = profdb(folder.path(), &["runs"])
            .env("PROFDB_DB", name)
            .output()
            .expect("the program is there");
        assert!(
            done.status.success() && text(&done.stdout).contains("c.csv"),
            "{name:?}: {done:?}"
        );
        // A profile of such a name is a profile.
        fs::copy(
            folder.path().join("a.csv"),
            folder.path().join("file:p.csv?mode=ro"),
        )
        .expect("space on the disk");
        // With `=` and no folder it would be a set of runs.
        for arguments in [
            ["report", "summary", "./file:p.csv?mode=ro"],
            ["sql", "SELECT 1", "./file:p.csv?mode=ro"],
        ] {
            let (said, code) = told("x.db", &arguments, folder.path());
            assert_eq!(code, Some(0), "{said}");
        }
    }
}

/// A command that gets a database later is tried above, too.
#[test]
fn every_command_with_a_database_is_tried() {
    let program = program();
    let with_database = program.get_subcommands().filter(|command| {
        command
            .get_arguments()
            .any(|argument| argument.get_long() == Some("db"))
    });
    // A server goes on until it is ended: tests/behaviour/serve.rs has its databases.
    let with_database = with_database.map(clap::Command::get_name);
    let with_database: BTreeSet<&str> = with_database.filter(|name| *name != "serve").collect();
    let tried: BTreeSet<&str> = COMMANDS.iter().map(|arguments| arguments[0]).collect();
    let untried: Vec<&&str> = with_database.difference(&tried).collect();
    assert!(untried.is_empty(), "{untried:?}");
    // Databases are the arguments of the one, and each report of the other takes one.
    let others: Vec<&&str> = tried.difference(&with_database).collect();
    assert_eq!(others, [&"merge", &"report"]);
}

/// `sql` makes no file, whatever it is asked.
#[test]
fn a_question_makes_no_file() {
    let folder = place();
    let there = entries(folder.path());
    for sql in [
        "ATTACH 'new.db' AS new",
        "ATTACH 'file:new.db?mode=rwc' AS new",
        "VACUUM INTO 'new.db'",
        "VACUUM INTO 'file:new.db?mode=rwc'",
        "PRAGMA journal_mode = WAL",
        "SELECT writefile('new.db', 'x')",
    ] {
        for arguments in [
            vec!["sql", "--db", "other.db", sql],
            vec!["sql", sql, "a.csv"],
        ] {
            let done = profdb(folder.path(), &arguments)
                .output()
                .expect("the program is there");
            assert!(
                !done.status.success() || text(&done.stdout).contains("journal_mode"),
                "{arguments:?}: {done:?}"
            );
            assert_eq!(entries(folder.path()), there, "{arguments:?}");
        }
    }
}
