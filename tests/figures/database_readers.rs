//! Programs that read SQLite's databases show every table and view, however large the runs are:
//! datasette, sqlite-utils, pandas, and `DuckDB` where its extension for SQLite can be had. They are
//! packages of Python. What they show first of each comes within the time that datasette gives a
//! question, which is asked in steps of SQLite's virtual machine: these are the same everywhere.

use std::fs;
use std::path::{Path, PathBuf};

use profdb::store::Database;

use super::consumers::answer;
use crate::support::program;
use crate::support::tools;

#[path = "../../benches/profiles/mod.rs"]
mod profiles;

use profiles::{Profile, Version, dyalog, lisp};

/// Number of nodes of each of the four runs of a database.
const NODES: usize = 20_000;

fn profdb(arguments: &[&str]) {
    let output = program::command()
        .args(arguments)
        .output()
        .expect("our own program");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
}

/// Databases of four large runs each: with lines and two metrics; with a label in every sample.
fn large(folder: &Path) -> [PathBuf; 2] {
    let databases = ["lines.db", "labels.db"].map(|name| folder.join(name));
    for seed in 1..=4 {
        let profile =
            Profile::new(NODES, NODES / 100, seed, Version::V1_37).expect("enough functions");
        let csv = folder.join(format!("{seed}.csv"));
        let tree = folder.join(format!("{seed}.tree"));
        let pprof = folder.join(format!("{seed}.pb.gz"));
        let mut file = fs::File::create(&csv).expect("room");
        dyalog::write_csv(&profile, &mut file).expect("room");
        let mut file = fs::File::create(&tree).expect("room");
        lisp::write_lispworks(&profile, &mut file).expect("room");
        let [tree, pprof, csv] = [&tree, &pprof, &csv].map(|path| path.to_str().expect("plain"));
        profdb(&["convert", tree, "--to=pprof", "-o", pprof]);
        for (database, file) in databases.iter().zip([csv, pprof]) {
            let database = database.to_str().expect("plain");
            profdb(&["import", "--db", database, "--tag=build=7", file]);
        }
    }
    databases
}

/// Small runs, after which every view but that of sources has rows.
fn small(folder: &Path) -> PathBuf {
    let database = folder.join("small.db");
    let path = database.to_str().expect("plain");
    for file in [
        "tests/samples/pprof/cpu.pb.gz",
        "tests/samples/ghc_px/calc.ghc6.px.prof",
        "tests/cases/dyalog_xml/shop-tree/run.xml",
        "tests/cases/austin/work/work.cpu.austin",
    ] {
        profdb(&["import", "--db", path, "--tag=build=7", file]);
    }
    database
}

/// The name of every table and view with the number of its rows, as SQLite counts them.
fn counts(path: &Path, kinds: &str) -> Vec<(String, Option<i64>)> {
    let database = Database::open_read_only(path).expect("a database");
    let connection = database.connection();
    let sql = format!(
        "SELECT name FROM sqlite_schema WHERE type IN ({kinds}) AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    );
    let mut names = connection.prepare(&sql).expect("SQL");
    let names = names
        .query_map([], |row| row.get::<_, String>(0))
        .expect("SQL");
    let counted = |name: &str| {
        let sql = format!("SELECT COUNT(*) FROM \"{name}\"");
        let count: i64 = connection
            .query_row(&sql, [], |row| row.get(0))
            .expect("SQL");
        Some(count)
    };
    names
        .map(|name| name.expect("a name"))
        .map(|name| (name.clone(), counted(&name)))
        .collect()
}

/// Returns the number of rows that a program reads from each table and view, `None` where it reads none.
///
/// # Panics
/// If the program shows other values than SQLite.
fn counted_by(reader: &str, database: &Path) -> Vec<(String, Option<i64>)> {
    let database = database.to_str().expect("plain");
    let told = answer(
        "python3",
        &["tests/support/database_readers.py", reader, database],
    );
    let lines = told.lines().map(|line| {
        let (name, count) = line.split_once(' ').expect("a name and a number");
        let count = (count != "-").then(|| count.parse().expect("a number"));
        (name.to_owned(), count)
    });
    lines.collect()
}

const ALL: &str = "'table', 'view'";

/// Views of so many rows that programs are not asked for their number.
const MANY: [&str; 3] = ["subtrees", "ancestors", "changes"];

/// First pages take few steps, and the programs show them.
#[test]
fn datasette_sqlite_utils_and_pandas_show_large_runs() {
    for module in ["sqlite3", "datasette", "sqlite_utils", "pandas"] {
        tools::require_python_module(module);
    }
    let readers = ["steps", "datasette", "sqlite-utils", "pandas"];
    let folder = tempfile::tempdir().expect("a folder");
    for database in large(folder.path()) {
        let mut expected = counts(&database, ALL);
        for reader in readers {
            assert_eq!(counted_by(reader, &database), expected, "{reader}");
            // The first of them has counted these, which takes seconds each.
            for (name, count) in &mut expected {
                if MANY.contains(&name.as_str()) {
                    *count = None;
                }
            }
        }
    }
}

/// All rows of all views, not only the first.
#[test]
fn pandas_reads_what_the_sqlite3_shell_shows() {
    tools::require("sqlite3");
    tools::require_python_module("pandas");
    let folder = tempfile::tempdir().expect("a folder");
    let database = small(folder.path());
    let expected = counts(&database, "'view'");
    assert_eq!(counted_by("whole", &database), expected);
}

#[test]
fn duckdb_reads_tables_and_views_as_texts() {
    if !Path::new("target/duckdb").exists() {
        tools::skip_missing(
            "DuckDB 1.5.5 and its extension for SQLite in target/duckdb",
            "pip",
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let database = small(folder.path());
    let mut expected = counts(&database, ALL);
    // Tables with bytes are not read.
    for (name, count) in &mut expected {
        if ["identities", "identity_digests", "runs"].contains(&name.as_str()) {
            *count = None;
        }
    }
    assert_eq!(counted_by("duckdb", &database), expected);
}
