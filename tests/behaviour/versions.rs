//! Databases of unknown schema versions are refused by every command and are not changed.

#![expect(clippy::disallowed_methods, reason = "small files of the test")]

use std::fs;
use std::path::Path;
use std::process::Output;

use profdb::store::versions;
use rusqlite::Connection;

use crate::support::program;

/// The first schema version that can be read.
const FIRST: i64 = 13;

/// Commands that open `x.db`.
const COMMANDS: &[&[&str]] = &[
    &["import", "run.folded", "--db", "x.db"],
    &["import", "--again", "run.folded", "--db", "x.db"],
    &["runs", "--db", "x.db"],
    &["runs", "--where", "latest", "--db", "x.db"],
    &["show", "--db", "x.db"],
    &["report", "summary", "--db", "x.db"],
    &["report", "--html", "x.html", "--db", "x.db"],
    &["diff", "1", "1", "--db", "x.db"],
    &["history", "*", "--db", "x.db"],
    &["steps", "--db", "x.db"],
    &["gate", "--budget", "perf.budget", "1", "1", "--db", "x.db"],
    &["sql", "SELECT 1", "--db", "x.db"],
    &["check", "--db", "x.db"],
    &["export", "--format", "folded", "--db", "x.db"],
    &["tag", "1", "host=red", "--db", "x.db"],
    &["delete", "latest", "--yes", "--db", "x.db"],
    &["identify", "--db", "x.db"],
    &["compact", "--db", "x.db"],
    &["merge", "x.db", "current.db"],
    &["merge", "current.db", "x.db"],
    &["merge", "new.db", "x.db"],
    #[cfg(feature = "serve")]
    &["serve", "x.db"],
    #[cfg(feature = "parquet")]
    &[
        "export", "--format", "parquet", "--out", "d", "--db", "x.db",
    ],
    #[cfg(feature = "parquet")]
    &["import", "--from", "dataset", "dataset", "--db", "x.db"],
];

fn profdb(folder: &Path, arguments: &[&str]) -> Output {
    program::command()
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

/// Returns the names and contents of all files in a folder.
fn files(folder: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            (name, fs::read(entry.path()).ok())
        })
        .collect();
    files.sort_unstable();
    files
}

/// Runs all commands on a database of a version; each has to fail with the message.
fn check_refusal(version: i64, message: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("run.folded"), "main;work 5\n").expect("a file");
    fs::write(path.join("perf.budget"), "total <= +5 %\n").expect("a file");
    for database in ["x.db", "current.db"] {
        let imported = profdb(path, &["import", "run.folded", "--db", database]);
        assert!(imported.status.success(), "{imported:?}");
    }
    if cfg!(feature = "parquet") {
        let arguments = [
            "export", "--format", "parquet", "--out", "dataset", "--db", "x.db",
        ];
        let exported = profdb(path, &arguments);
        assert!(exported.status.success(), "{exported:?}");
    }
    Connection::open(path.join("x.db"))
        .and_then(|connection| connection.pragma_update(None, "user_version", version))
        .expect("a database");
    let before = files(path);
    for arguments in COMMANDS {
        let refused = profdb(path, arguments);
        let stderr = String::from_utf8(refused.stderr).expect("UTF-8");
        let expected = format!("profdb: x.db has schema version {version}, {message}\n");
        assert_eq!(
            (refused.status.code(), stderr),
            (Some(5), expected),
            "{arguments:?}"
        );
        assert!(files(path) == before, "{arguments:?} changes files");
    }
}

#[test]
fn older_database_is_refused_unchanged() {
    assert!(FIRST <= versions().0);
    for version in [-1, 1, 11, 12] {
        check_refusal(
            version,
            "this profdb reads versions from 13 on; import the profiles again into a new database",
        );
    }
}

#[test]
fn newer_database_is_refused_unchanged() {
    let latest = versions().0;
    check_refusal(
        latest + 1,
        &format!("this profdb reads versions up to {latest}; use a newer profdb"),
    );
}
