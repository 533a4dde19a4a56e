//! Databases that are not ours, are newer, or that a stranger has worked on: what is foreign is
//! refused before anything of it runs, what is damaged is an error or an answer, and `profdb check`
//! says what is wrong.

#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and a limit on the time of each"
)]

use crate::support::allocation;
use crate::support::case_files::repository_path;
use crate::support::long;
use crate::support::tools;
use rustix::fs::{CWD, FileType, Mode};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::program;
use crate::support::random::Random;
use profdb::base::error::Stop;
use profdb::formats::export::ExportError;
use profdb::formats::{EXPORTS, Options, export, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::{self, Argument, REPORTS, header};
use profdb::store::{APPLICATION_ID, Database, RunMeta, StoreError};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

/// What a sound database is made of: trees with and without lines, several metrics, labels, a run
/// without paths.
const RUNS: [&str; 6] = [
    "dyalog_xml/shop-tree/run.xml",
    "dyalog_csv/function-without-lines/run.csv",
    "pprof/labels/run.pb",
    "sampler/recursion/run.trace",
    "callgrind/recursion-levels/callgrind.out",
    "pprof/lines-and-columns/run.pb",
];

/// Every command that opens a database, with the exit codes that it may end with on a damaged one.
const COMMANDS: [&[&str]; 20] = [
    &["runs"],
    &["show"],
    &["report", "summary"],
    &["report", "calls", "--fn", "main"],
    &["report", "tree"],
    &["report", "lines", "--format", "json"],
    &["sql", "SELECT * FROM tree"],
    &["export", "--format", "folded"],
    &["export", "--format", "dyalog_xml"],
    &["check"],
    &["diff", "1", "2"],
    &["gate", "--budget", "perf.budget", "1", "2", "--exit-zero"],
    &["history"],
    &["history", "*"],
    &["steps"],
    &["compact"],
    &["identify"],
    &["tag", "1", "reviewed=yes"],
    &["delete", "1"],
    &["import", "again.csv"],
];

/// Commands that open no database, or are tried elsewhere.
const OTHER_COMMANDS: [&str; 8] = [
    "completions",
    "convert",
    "dump",
    "formats",
    "man",
    "merge",
    "schema",
    "serve",
];

/// A budget with rules of every kind.
const BUDGET: &str = "total <= +5 %\nfn '*' <= +5 %\nmodule '*' <= 100 % of total\nany <= +10 %\nnew <= 1 % of total\ncalls '*' <= 1 M\n";

/// Another profile, to import into what is there.
const AGAIN: &str = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n0,\"#.g\",¯1,1,1,1\n";

fn case(path: &str) -> Vec<u8> {
    let file = repository_path(&format!("tests/cases/{path}"));
    fs::read(file).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Imports a profile; the database is open then.
fn add(database: Database, format: &str, bytes: &[u8]) -> Result<Database, String> {
    let stop = Stop::default();
    let input = Input::new(Box::new(bytes), Limits::default(), stop.clone())
        .map_err(|error| error.to_string())?;
    let (format, options) = (format_named(format).expect("a format"), Options::default());
    let tags = vec![("host".to_owned(), "here".to_owned())];
    let describe = |fingerprint| RunMeta {
        again: true,
        tags,
        ..meta(format, &options, "input", fingerprint)
    };
    let imported = import(input, format, &options, &stop, describe, || Ok(database));
    Ok(imported.map_err(|error| error.to_string())?.database)
}

/// A database that is sound, with all that a table can hold.
fn sound(path: &Path) {
    for run in RUNS {
        let format = run.split('/').next().expect("a folder per format");
        let database = Database::open(path).expect("a database");
        add(database, format, &case(run)).unwrap_or_else(|error| panic!("{run}: {error}"));
    }
    fs::write(path.with_file_name("again.csv"), AGAIN).expect("a file");
    fs::write(path.with_file_name("perf.budget"), BUDGET).expect("a file");
}

struct Told {
    code: Option<i32>,
    out: String,
    errors: String,
}

fn profdb(folder: &Path, arguments: &[&str]) -> Told {
    let mut command = program::command();
    command.args(arguments).current_dir(folder);
    let output = command.output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Told {
        code: output.status.code(),
        out: text(output.stdout),
        errors: text(output.stderr),
    }
}

/// No command does anything with this file, and all say the same.
fn refused(folder: &Path, what: &str, says: &str) {
    let path = folder.join("profdb.db");
    let before = fs::metadata(&path)
        .is_ok_and(|found| found.is_file())
        .then(|| fs::read(&path).expect("a file"));
    fs::write(folder.join("again.csv"), AGAIN).expect("a file");
    fs::write(folder.join("perf.budget"), BUDGET).expect("a file");
    for command in COMMANDS {
        let told = profdb(folder, command);
        assert!(
            matches!(told.code, Some(1 | 5)),
            "{what}, {command:?}: {:?} {}",
            told.code,
            told.errors
        );
        assert!(
            told.errors.contains(says),
            "{what}, {command:?}: {}",
            told.errors
        );
        assert_eq!(
            told.out
                .lines()
                .filter(|line| !line.starts_with("again.csv"))
                .count(),
            0,
            "{what}, {command:?}: {}",
            told.out
        );
    }
    if let Some(before) = before {
        assert!(
            fs::read(&path).expect("a file") == before,
            "the file is another"
        );
    }
    let left: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(left.len(), 3, "files were left: {left:?}");
}

#[test]
fn what_is_no_database_of_ours() {
    /// Makes a file.
    type Make = fn(&Path);
    let made: [(&str, Make, &str); 7] = [
        (
            "text",
            |path| fs::write(path, "Dear diary,\n".repeat(100)).expect("a file"),
            "not a database",
        ),
        (
            "folder",
            |path| fs::create_dir(path).expect("a folder"),
            "is a directory, not a database",
        ),
        (
            "pipe",
            |path| rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).expect("a pipe"),
            "is not a file that",
        ),
        (
            "of another",
            |path| drop(open(path, "CREATE TABLE t (x); INSERT INTO t VALUES (1)")),
            "is not a profdb database",
        ),
        (
            "newer",
            |path| {
                drop(open(
                    path,
                    &ours("PRAGMA user_version = 99; CREATE TABLE t (x)"),
                ));
            },
            "use a newer profdb",
        ),
        (
            "with a table of ours only",
            |path| {
                drop(open(
                    path,
                    &ours("PRAGMA user_version = 13; CREATE TABLE runs (x)"),
                ));
            },
            "runs is not",
        ),
        (
            "cut",
            |path| fs::write(path, b"SQLite format 3\0").expect("a file"),
            "not a database",
        ),
    ];
    for (what, make, says) in made {
        let folder = tempfile::tempdir().expect("a folder");
        make(&folder.path().join("profdb.db"));
        refused(folder.path(), what, says);
    }
}

fn ours(sql: &str) -> String {
    format!("PRAGMA application_id = {APPLICATION_ID}; {sql}")
}

fn open(path: &Path, sql: &str) -> Connection {
    let connection = Connection::open(path).expect("a file");
    connection
        .execute_batch(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    connection
}

/// What SQLite is asked to be careful with, as each connection says itself. All of them are opened
/// in one place (tests/repo/tidy/mod.rs).
#[test]
fn every_connection_is_on_its_guard() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    sound(&path);
    let old = folder.path().join("old.db");
    fs::copy(&path, &old).expect("a copy");
    drop(open(&old, "DROP VIEW summary"));
    let new = Database::open(&folder.path().join("new.db")).expect("a folder that can be written");
    let added = add(
        Database::open(&folder.path().join("added.db")).expect("a folder"),
        "dyalog_csv",
        AGAIN.as_bytes(),
    );
    // The folder is synced from the first transaction on.
    let added = added.and_then(|database| {
        add(
            database,
            "dyalog_csv",
            AGAIN.replace("#.g", "#.h").as_bytes(),
        )
    });
    let kinds = [
        ("new", new, false),
        ("written to", added.expect("it can be imported"), false),
        ("there", Database::open(&path).expect("a database"), false),
        (
            "to be read",
            Database::open_read_only(&path).expect("a database"),
            true,
        ),
        (
            "to be read, once its views are replaced",
            Database::open_read_only(&old).expect("a database"),
            true,
        ),
        (
            "in memory",
            Database::in_memory().expect("room for a database"),
            false,
        ),
    ];
    for (kind, database, is_read_only) in kinds {
        let connection = database.connection();
        let is_set = |config| connection.db_config(config).expect("a setting");
        assert!(is_set(DbConfig::SQLITE_DBCONFIG_DEFENSIVE), "{kind}");
        assert!(!is_set(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA), "{kind}");
        let limits = [
            (Limit::SQLITE_LIMIT_LENGTH, 256 << 20),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
            (Limit::SQLITE_LIMIT_ATTACHED, 1),
        ];
        for (limit, most) in limits {
            assert_eq!(connection.limit(limit), Ok(most), "{kind}: {limit:?}");
        }
        let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(one("PRAGMA cell_size_check"), Ok(1), "{kind}");
        // What is not in its place yet is synced as a whole, before it gets there.
        assert_eq!(
            one("PRAGMA synchronous"),
            Ok(if kind == "new" { 0 } else { 3 }),
            "{kind}"
        );
        assert_eq!(connection.is_readonly("main"), Ok(is_read_only), "{kind}");
        let written = connection.execute(
            "INSERT INTO run_tags (run_id, key, value) VALUES (1, 'k', 'v')",
            [],
        );
        assert_eq!(written.is_ok(), !is_read_only, "{kind}: {written:?}");
        assert!(
            connection
                .execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
                .is_err(),
            "{kind}"
        );
    }
}

#[test]
fn every_command_is_tried() {
    let program = profdb::cli::program();
    let known: BTreeSet<&str> = program
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let tried: BTreeSet<&str> = COMMANDS
        .iter()
        .map(|words| words[0])
        .chain(OTHER_COMMANDS)
        .collect();
    assert_eq!(known, tried);
}

/// An empty file becomes a database by an import, and by nothing else.
#[test]
fn an_empty_file_has_no_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("profdb.db"), "").expect("a file");
    let told = profdb(folder.path(), &["report", "summary"]);
    assert_eq!(
        (told.code, told.errors.as_str()),
        (
            Some(5),
            "profdb: profdb.db is empty; `profdb import FILE` creates a database in it\n"
        )
    );
    fs::write(folder.path().join("again.csv"), AGAIN).expect("a file");
    assert_eq!(
        profdb(folder.path(), &["import", "again.csv"]).out,
        "again.csv: run 1, 1 nodes\n"
    );
    assert_eq!(profdb(folder.path(), &["check"]).code, Some(0));
}

/// What would run within our statements if we let it. Each would leave a mark, or take away a run.
#[test]
fn what_a_stranger_has_hung_on_our_tables() {
    let rewrite = |name: &str, from: &str, to: &str| {
        format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = '{name}'"
        )
    };
    let hostile = [
        ("a trigger on our table", "CREATE TRIGGER thief AFTER INSERT ON runs BEGIN DELETE FROM runs WHERE run_id < NEW.run_id; END".to_owned(), "the trigger thief does not belong to profdb"),
        ("a trigger on a view of ours", "CREATE TRIGGER thief INSTEAD OF INSERT ON summary BEGIN DELETE FROM runs; END".to_owned(), "the trigger thief"),
        ("a trigger of ours that does something else", rewrite("runs_delete", "DELETE FROM notes WHERE run_id = OLD.run_id", "DELETE FROM runs"), "the trigger runs_delete is not the trigger that"),
        ("a trigger that says it is a table", "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'mine', 'mine', 0, 'CREATE TRIGGER thief AFTER INSERT ON runs BEGIN DELETE FROM runs; END')".to_owned(), "malformed database schema (mine)"),
        ("a trigger that says it is of another table", "CREATE TABLE mine (x); CREATE TRIGGER thief AFTER INSERT ON runs BEGIN DELETE FROM runs; END; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET tbl_name = 'mine' WHERE name = 'thief'".to_owned(), "malformed database schema (thief)"),
        ("a view for a table", "PRAGMA legacy_alter_table = ON; ALTER TABLE nodes RENAME TO kept; CREATE VIEW nodes AS SELECT * FROM kept".to_owned(), "the view nodes is not the table that profdb makes"),
        ("a table for a view", "DROP VIEW summary; CREATE TABLE summary (run_id, metric, function)".to_owned(), "the table summary is not the view that profdb makes"),
        ("a virtual table for a table", "DROP TABLE run_tags; CREATE VIRTUAL TABLE run_tags USING fts5(run_id, key, value)".to_owned(), "the table run_tags is not"),
        ("a default that calls a function", rewrite("run_tags", "value  TEXT NOT NULL,", "value  TEXT NOT NULL DEFAULT (load_extension(1)),"), "run_tags"),
        ("a generated column that calls a function", rewrite("functions", "raw_name    TEXT,", "raw_name    TEXT, x AS (writefile(\"x\", name)),"), "functions"),
        ("a check that calls a function", rewrite("notes", "message  TEXT NOT NULL", "message  TEXT NOT NULL CHECK (edit(message) IS NOT NULL)"), "notes"),
        ("a column of somebody", "ALTER TABLE runs ADD COLUMN mine TEXT DEFAULT 'x'".to_owned(), "the table runs is not"),
        ("a table less", "DROP TABLE node_labels".to_owned(), "the table node_labels is missing"),
        ("an index less", "DROP INDEX edges_by_caller".to_owned(), "the index edges_by_caller is missing"),
        ("a trigger less", "DROP TRIGGER runs_delete".to_owned(), "the trigger runs_delete is missing"),
        ("text that is no SQL", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE nonsense' WHERE name = 'nodes'".to_owned(), "the database is damaged"),
    ];
    let start = tempfile::tempdir().expect("a folder");
    sound(&start.path().join("profdb.db"));
    for (what, sql, says) in hostile {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profdb.db");
        fs::copy(start.path().join("profdb.db"), &path).expect("a copy");
        drop(open(&path, &sql));
        refused(folder.path(), what, says);
        assert_eq!(profdb(folder.path(), &["check"]).code, Some(1), "{what}");
    }
}

/// Views of ours with another text go, before anything reads them, where the file may be written.
#[test]
fn a_view_of_ours_with_another_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    sound(&path);
    let expected = profdb(folder.path(), &["sql", "SELECT * FROM summary"]).out;
    drop(open(
        &path,
        "DROP VIEW summary; CREATE VIEW summary AS SELECT writefile('stolen', 'x') FROM runs",
    ));
    assert_eq!(
        profdb(folder.path(), &["sql", "SELECT * FROM summary"]).out,
        expected
    );
    assert_eq!(profdb(folder.path(), &["check"]).code, Some(0));
}

/// An ordinary database is open to what its owner adds, and profdb leaves it alone.
#[test]
fn what_the_owner_has_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    sound(&path);
    let own = "CREATE TABLE mine (run_id INTEGER REFERENCES runs, why TEXT);
               INSERT INTO mine VALUES (1, 'slow');
               CREATE INDEX mine_by_run ON mine (run_id);
               CREATE INDEX by_cost ON nodes (exclusive);
               CREATE VIEW hot AS SELECT * FROM exclusive WHERE exclusive > 1;
               CREATE VIEW endless AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c;
               CREATE VIEW thief AS SELECT load_extension('x') AS x;
               CREATE VIEW writer AS SELECT fts3_tokenizer('x', 'y') AS x;
               ANALYZE;";
    drop(open(&path, own));
    for command in COMMANDS {
        let told = profdb(folder.path(), command);
        let unknown = command.contains(&"--fn");
        assert!(
            told.code == Some(0) || unknown && told.code == Some(4),
            "{command:?}: {:?} {}",
            told.code,
            told.errors
        );
    }
    assert_eq!(
        profdb(
            folder.path(),
            &["sql", "SELECT why FROM mine", "--format", "csv"]
        )
        .out,
        "\"why\"\n\"slow\"\n"
    );
    for view in ["thief", "writer"] {
        let told = profdb(folder.path(), &["sql", &format!("SELECT x FROM {view}")]);
        assert!(
            told.code != Some(0) && told.out.is_empty(),
            "{view}: {} {}",
            told.out,
            told.errors
        );
    }
}

/// A view may be a program that never ends: Ctrl-C ends it.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_view_is_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    sound(&path);
    let endless =
        "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c";
    drop(open(&path, &format!("CREATE VIEW endless AS {endless}")));
    let mut child = program::command()
        .args(["sql", "SELECT COUNT(*) FROM endless"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    while ticks(child.id()) < BUSY {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none(), "{ended:?} before it was interrupted");
        thread::park_timeout(Duration::from_millis(20));
    }
    assert!(tools::kill(child.id(), "INT"), "it is there");
    let ended = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert_eq!(said, "", "it is not given up, but ends");
}

/// Hundredths of a second of a processor after which a program has long come to its statement.
#[cfg(target_os = "linux")]
const BUSY: u64 = 50;

/// How long a process has been on a processor, in hundredths of a second.
#[cfg(target_os = "linux")]
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it is there");
    // The name of the program, the second field, may have blanks.
    let (_, fields) = stat.rsplit_once(") ").expect("fields after the name");
    let user = fields.split(' ').nth(11).expect("time as a user");
    user.parse().expect("a number")
}

/// Does everything with a database that a command does; errors are answers, too.
fn use_all_of_it(path: &Path) {
    if let Ok(database) = Database::open_read_only(path) {
        let _ = database.check();
        for run in (1..).take(RUNS.len()) {
            let Ok(Some(run)) = database.run(Some(run)) else {
                continue;
            };
            let _ = (database.state(run.run_id), database.warnings(run.run_id));
            for report in REPORTS {
                let _ = ask(&database, report, &run, None);
                let _ = ask(&database, report, &run, Some("*a*"));
            }
            for export in EXPORTS {
                let _ = export.write(
                    &database,
                    &run,
                    &export::Request::default(),
                    &mut io::sink(),
                );
            }
        }
        let _ = report::query(&database, "SELECT * FROM tree").and_then(|mut answer| {
            answer.each(|_| Ok::<_, StoreError>(()))?;
            Ok(())
        });
    }
    if let Ok(mut database) = Database::open(path) {
        let _ = database.delete_run(1);
    }
    if let Ok(database) = Database::open(path) {
        let _ = add(database, "dyalog_csv", AGAIN.as_bytes());
    }
}

fn ask(
    database: &Database,
    report: &'static report::Report,
    run: &profdb::store::RunInfo,
    path: Option<&str>,
) -> Result<Vec<String>, report::ReportError> {
    let parameters = &report.header().parameters;
    let is_path = |parameter: &&header::ParameterDef<'_>| parameter.kind == header::Parameter::Path;
    let text = |text: &str| Argument::Text(text.to_owned());
    let arguments = parameters
        .iter()
        .find(is_path)
        .zip(path)
        .map(|(path, value)| (path.name.to_owned(), text(value)));
    let request = report::Request {
        arguments: arguments.into_iter().collect(),
        ..report::Request::default()
    };
    let mut texts = Vec::new();
    report::ask(database, report, run, &request)?.each(|row| {
        texts.extend(row.iter().filter_map(|value| match value {
            report::Value::Text(text) => Some(text.clone()),
            _ => None,
        }));
        Ok::<_, StoreError>(())
    })?;
    Ok(texts)
}

/// Text that is not UTF-8, in each column in turn: `check` finds it and says where; whatever else
/// reads it says that the file is damaged, and nothing shows another text in its place.
#[test]
fn text_that_is_none_is_damage_to_everybody() {
    const REPLACED: &str = "\u{fffd}";
    let start = tempfile::tempdir().expect("a folder");
    let path = start.path().join("profdb.db");
    sound(&path);
    let whole = fs::read(&path).expect("a file");
    let columns = "SELECT t.name, c.name
                   FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND c.type IN ('TEXT', 'ANY')
                   ORDER BY t.name, c.cid";
    let database = Connection::open(&path).expect("a file");
    let mut statement = database.prepare(columns).expect("a schema");
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("a schema");
    let columns: Vec<(String, String)> = found.collect::<Result<_, _>>().expect("a schema");
    assert!(columns.len() > 30, "{columns:?}");
    let mut told = 0;
    let step = if long::is_long() { 1 } else { 2 };
    for (table, column) in columns.iter().step_by(step) {
        let about = format!("{table}.{column}");
        fs::write(&path, &whole).expect("a file");
        let odd = Connection::open(&path).expect("a file");
        odd.execute_batch("PRAGMA ignore_check_constraints = ON")
            .expect("a setting");
        let change = format!(
            "UPDATE {table} SET {column} = {column} || x'ff' WHERE TYPEOF({column}) = 'text'"
        );
        let changed = odd.execute(&change, []).expect(&about);
        drop(odd);
        // Of these runs, none has such a text.
        if changed == 0 {
            continue;
        }
        told += 1;
        let database = Database::open_read_only(&path).expect("its schema is ours");
        let findings = database.check().expect("it can be read");
        let finding = findings
            .iter()
            .find(|finding| finding.check == "texts")
            .unwrap_or_else(|| panic!("{about}"));
        assert_eq!(finding.count, changed, "{about}");
        let example = &finding.examples[0];
        assert!(
            example.starts_with(&format!("{table} where ")),
            "{about}: {example}"
        );
        assert!(
            example.ends_with(&format!(": {column} is not UTF-8")),
            "{about}: {example}"
        );
        let refuses = |error: &dyn std::fmt::Display| {
            let error = error.to_string();
            assert!(error.contains("damaged"), "{about}: {error}");
        };
        for number in (1..).take(RUNS.len()) {
            let run = match database.run(Some(number)) {
                Ok(run) => run.expect("it is there"),
                Err(error) => {
                    refuses(&error);
                    continue;
                }
            };
            match database.state(run.run_id) {
                Ok(state) => assert!(
                    !format!("{state:?}").contains(REPLACED),
                    "{about}: {state:?}"
                ),
                Err(error) => refuses(&error),
            }
            for report in REPORTS {
                for path in [None, Some("*a*")] {
                    match ask(&database, report, &run, path) {
                        Ok(texts) => assert!(
                            !texts.concat().contains(REPLACED),
                            "{about}: {}",
                            report.name
                        ),
                        Err(report::ReportError::Store(error)) => refuses(&error),
                        // What a run does not know is not asked for.
                        Err(_) => {}
                    }
                }
            }
            for export in EXPORTS {
                let mut bytes = Vec::new();
                match export.write(&database, &run, &export::Request::default(), &mut bytes) {
                    Ok(_) => {
                        let is_replaced = bytes
                            .windows(REPLACED.len())
                            .any(|part| part == REPLACED.as_bytes());
                        assert!(!is_replaced, "{about}: {}", export.name);
                    }
                    Err(ExportError::Report(report::ReportError::Store(error))) => refuses(&error),
                    // Not every format holds every run.
                    Err(_) => {}
                }
            }
        }
    }
    assert!(
        told * step > 25,
        "{told} of {} columns have a text",
        columns.len()
    );
}

/// Whether all of it ends without a panic. What never ends is seen by whoever waits for the test.
fn survives(path: &Path) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| use_all_of_it(path))).map_err(|_| "panic".to_owned())
}

/// Changes some bytes of a database file: of the header, of pages, or its end.
fn corrupt(bytes: &mut Vec<u8>, random: &mut Random) {
    const PAGE: usize = 4096;
    match random.below(6) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => bytes[random.below(100)] = random.next().to_le_bytes()[0],
        // The head of a page: kind, free blocks, cells.
        2 => {
            let pages = bytes.len() / PAGE;
            let at = random.below(pages) * PAGE + random.below(12);
            bytes[at] = random.next().to_le_bytes()[0];
        }
        3 => {
            let pages = bytes.len() / PAGE;
            let (from, to) = (random.below(pages) * PAGE, random.below(pages) * PAGE);
            bytes.copy_within(from..from + PAGE, to);
        }
        4 => {
            let at = random.below(bytes.len());
            let end = (at + random.below(200)).min(bytes.len());
            bytes[at..end].fill(0);
        }
        _ => {
            for _ in 0..=random.below(20) {
                let at = random.below(bytes.len());
                bytes[at] = random.next().to_le_bytes()[0];
            }
        }
    }
}

/// How many damaged files are tried: `CORRUPTIONS=N` for more.
fn corruptions() -> u64 {
    long::repetitions("CORRUPTIONS", 40, 1000)
}

#[test]
fn random_bytes_are_other_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    sound(&path);
    let whole = fs::read(&path).expect("a file");
    let (mut seen, mut unsound) = (0, 0);
    for seed in 0..corruptions() {
        let mut bytes = whole.clone();
        corrupt(&mut bytes, &mut Random(seed));
        fs::write(&path, &bytes).expect("a file");
        let integrity = Connection::open(&path).and_then(|file| {
            file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
        });
        let checked = Database::open_read_only(&path).and_then(|database| database.check());
        if !matches!(&integrity, Ok(told) if told == "ok") {
            unsound += 1;
            assert!(
                !matches!(&checked, Ok(findings) if findings.is_empty()),
                "seed {seed}: {integrity:?}"
            );
        }
        seen += u32::from(!matches!(&checked, Ok(findings) if findings.is_empty()));
        survives(&path).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        for left in ["profdb.db-journal", "profdb.db-wal", "profdb.db-shm"] {
            let _ = fs::remove_file(folder.path().join(left));
        }
    }
    long::print_figure(format_args!(
        "{} damaged files, {unsound} as SQLite sees it, {seen} found",
        corruptions()
    ));
    assert!(unsound > 0);
}

/// What a stranger says of trees: levels, sizes and numbers that none has. Sums that leave 64 bits are no integers, which SQLite refuses
/// in columns that it computes.
const WRONG_TREES: [(&str, &str); 25] = [
    (
        "deeper than there are nodes",
        "UPDATE nodes SET depth = 1000000000 WHERE node_id = 3",
    ),
    (
        "as deep as can be",
        "UPDATE nodes SET depth = 9223372036854775807",
    ),
    ("all too deep", "UPDATE nodes SET depth = depth + 1"),
    (
        "a level left out",
        "UPDATE nodes SET depth = depth + 1 WHERE depth > 1",
    ),
    (
        "above the root",
        "UPDATE nodes SET depth = -1 WHERE node_id = 3",
    ),
    ("all above the root", "UPDATE nodes SET depth = -depth - 1"),
    (
        "the least depth",
        "UPDATE nodes SET depth = -9223372036854775808",
    ),
    ("all at the root", "UPDATE nodes SET depth = 0"),
    (
        "more below than there are",
        "UPDATE nodes SET size = 4611686018427387904",
    ),
    (
        "more below than above",
        "UPDATE nodes SET size = size + 1 WHERE node_id = 3",
    ),
    (
        "less than nothing below",
        "UPDATE nodes SET size = -2 WHERE node_id = 3",
    ),
    (
        "the least size",
        "UPDATE nodes SET size = -9223372036854775808",
    ),
    ("nothing below any", "UPDATE nodes SET size = 0"),
    (
        "its own caller",
        "UPDATE nodes SET up = 0 WHERE up IS NOT NULL",
    ),
    (
        "called by a later one",
        "UPDATE nodes SET up = -1 WHERE up IS NOT NULL",
    ),
    (
        "called from nowhere",
        "UPDATE nodes SET up = 9223372036854775807 WHERE up IS NOT NULL",
    ),
    (
        "the least caller",
        "UPDATE nodes SET up = -4611686018427387904",
    ),
    ("recursion of itself", "UPDATE nodes SET outer_up = 0"),
    ("recursion of a later one", "UPDATE nodes SET outer_up = -1"),
    (
        "the last node before the first",
        "UPDATE runs SET last_node = first_node - 1 WHERE first_node IS NOT NULL",
    ),
    (
        "far before the first",
        "UPDATE runs SET last_node = -9223372036854775808 WHERE first_node IS NOT NULL",
    ),
    (
        "from the least node on",
        "UPDATE runs SET first_node = -9223372036854775808 WHERE first_node IS NOT NULL",
    ),
    (
        "up to the largest node",
        "UPDATE runs SET last_node = 9223372036854775807 WHERE first_node IS NOT NULL",
    ),
    (
        "all nodes there can be",
        "UPDATE runs SET first_node = -9223372036854775808, last_node = 9223372036854775807 WHERE first_node IS NOT NULL",
    ),
    (
        "nodes as far apart as can be",
        "UPDATE nodes SET node_id = -9223372036854775808 WHERE node_id = 1; UPDATE nodes SET node_id = 9223372036854775807, size = 0 WHERE node_id = 2; UPDATE runs SET first_node = -9223372036854775808, last_node = 9223372036854775807 WHERE first_node IS NOT NULL",
    ),
];

/// What reads trees, besides reports and exports.
const OF_TREES: [&[&str]; 4] = [
    &["report", "--html", "page.html"],
    &["report", "diff_tree", "1", "1"],
    &["diff", "1", "2"],
    &["export", "--format", "parquet", "--out", "dataset"],
];

/// Bytes that a thread may hold where a tree is wrong: of trees of a few nodes.
const MOST_OF_A_TREE: usize = 64 << 20;

/// Levels that are none lead to no panic, no loop and no memory for them; `check` finds them, and what is
/// written in spite of them goes by numbers that agree.
#[test]
fn trees_that_are_none() {
    let start = tempfile::tempdir().expect("a folder");
    let path = start.path().join("profdb.db");
    sound(&path);
    let whole = fs::read(&path).expect("a file");
    let step = if long::is_long() { 1 } else { 2 };
    for (what, change) in WRONG_TREES.into_iter().step_by(step) {
        fs::write(&path, &whole).expect("a file");
        let lax = "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;";
        drop(open(&path, &format!("{lax} {change}")));
        let checked = Database::open_read_only(&path).and_then(|database| database.check());
        assert!(
            !matches!(&checked, Ok(findings) if findings.is_empty()),
            "{what}: {checked:?}"
        );
        for command in OF_TREES {
            let told = profdb(start.path(), command);
            let is_told = matches!(told.code, Some(0 | 1 | 4 | 5));
            assert!(
                is_told && !told.errors.contains("panicked"),
                "{what}: {command:?}: {:?} {}",
                told.code,
                told.errors
            );
        }
        let (survived, most) = allocation::most(|| survives(&path));
        survived.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        assert!(most < MOST_OF_A_TREE, "{what}: {most} bytes");
    }
}

/// Formats that hold runs without trees, too, whose writers need no levels.
const WITHOUT_TREES: [&str; 5] = [
    "business_rules",
    "callgrind",
    "dot",
    "dyalog_csv",
    "dyalog_xml",
];

/// Writers that go by what is below a node refuse a depth that says something else, as others do.
#[test]
fn a_depth_that_is_none_is_written_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    sound(&path);
    for depth in ["1000000000", "depth + 2", "-1", "-9223372036854775808"] {
        let change = format!(
            "UPDATE nodes SET depth = {depth}
             WHERE node_id = (SELECT MIN(node_id) FROM nodes WHERE up IS NOT NULL AND line IS NULL)"
        );
        let copy = folder.path().join("copy.db");
        fs::copy(&path, &copy).expect("a copy");
        let lax = "PRAGMA ignore_check_constraints = ON;";
        drop(open(&copy, &format!("{lax} {change}")));
        let database = Database::open_read_only(&copy).expect("its schema is ours");
        let run = database.run(Some(1)).expect("a run").expect("a run");
        let of_trees = EXPORTS
            .iter()
            .filter(|export| !WITHOUT_TREES.contains(&export.name));
        for export in of_trees {
            let request = export::Request::default();
            let written = export.write(&database, &run, &request, &mut io::sink());
            let is_refused = match &written {
                Err(ExportError::Report(report::ReportError::Store(error))) => {
                    error.to_string().contains("depth")
                }
                // Not every format holds every run.
                Err(ExportError::Report(report::ReportError::NothingSelected(_))) => true,
                _ => false,
            };
            assert!(is_refused, "{change}: {}: {written:?}", export.name);
        }
    }
}

/// The program itself says what is wrong, and ends with 1.
#[test]
fn every_command_on_a_damaged_file() {
    let start = tempfile::tempdir().expect("a folder");
    sound(&start.path().join("profdb.db"));
    let whole = fs::read(start.path().join("profdb.db")).expect("a file");
    for seed in 1000..1008 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profdb.db");
        let mut bytes = whole.clone();
        corrupt(&mut bytes, &mut Random(seed));
        fs::write(&path, &bytes).expect("a file");
        fs::write(folder.path().join("again.csv"), AGAIN).expect("a file");
        fs::write(folder.path().join("perf.budget"), BUDGET).expect("a file");
        let sound = Database::open_read_only(&path).and_then(|database| database.check());
        let sound = matches!(&sound, Ok(findings) if findings.is_empty());
        for command in COMMANDS {
            let told = profdb(folder.path(), command);
            assert!(
                matches!(told.code, Some(0 | 1 | 4 | 5)),
                "seed {seed}: {command:?}: {:?} {}",
                told.code,
                told.errors
            );
            assert!(
                !told.errors.contains("panicked"),
                "seed {seed}: {command:?}: {}",
                told.errors
            );
            if command == ["check"] {
                // Without its mark the file is nobody's.
                let nobodys = ["not a profdb database", "newer profdb"]
                    .iter()
                    .any(|says| told.errors.contains(says));
                let expected = if nobodys { 5 } else { i32::from(!sound) };
                assert_eq!(
                    told.code,
                    Some(expected),
                    "seed {seed}: {} {}",
                    told.out,
                    told.errors
                );
                assert!(
                    sound || !told.errors.is_empty(),
                    "seed {seed}: nothing is said"
                );
            }
        }
    }
}
