//! Several programs and one database; programs that are asked to stop while they wait.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and bounded waits"
)]

use crate::support::tools;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::support::faults::{DATABASE, check, csv, entries, growing, import, profdb, text};
use rusqlite::Connection;

/// Programs that import at the same time.
const IMPORTS: usize = 16;

/// Seconds that programs wait for each other, however slow the machine is.
const PATIENCE: &str = "3600";

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = profdb(folder, arguments);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is there")
}

fn end(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

fn interrupt(child: &Child, signal: &str) {
    assert!(tools::kill(child.id(), signal));
}

/// A line for each run that somebody sees who has nothing but the stock shell: its nodes, and how
/// many of them are there. `None` if the database is locked at the moment.
fn seen(folder: &Path) -> Option<Vec<String>> {
    let sql = "SELECT source_name, last_node - first_node + 1,
                      (SELECT COUNT(*) FROM nodes WHERE node_id BETWEEN first_node AND last_node)
               FROM runs ORDER BY run_id";
    let done = tools::command("sqlite3")
        .arg(folder.join(DATABASE))
        .arg(sql)
        .output()
        .expect("it was found");
    let said = text(&done.stderr);
    assert!(done.status.success() || said.contains("locked"), "{said}");
    done.status
        .success()
        .then(|| text(&done.stdout).lines().map(str::to_owned).collect())
}

/// Profiles of different sizes: some go through SQL, some as pages.
fn write_profiles(folder: &Path) -> Vec<(String, usize)> {
    let profile = |at: usize| {
        let (name, rows) = (format!("p{at}.csv"), 10 + at % 3 * 2500 + at);
        fs::write(folder.join(&name), csv(rows, 20)).expect("space on the disk");
        (name, rows + 1)
    };
    (0..IMPORTS / 2).map(profile).collect()
}

/// Each profile is imported by two programs at once.
fn many_imports(journal: Option<&str>) {
    tools::require("sqlite3");
    let inputs = tempfile::tempdir().expect("a folder");
    let profiles = write_profiles(inputs.path());
    let folder = tempfile::tempdir().expect("a folder");
    let mut before = Vec::new();
    if let Some(mode) = journal {
        let first = inputs.path().join("first.csv");
        fs::write(&first, csv(3000, 7)).expect("space on the disk");
        import(folder.path(), &first);
        let database = Connection::open(folder.path().join(DATABASE)).expect("it is there");
        database
            .query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))
            .expect("nobody else is here");
        before.push("first.csv|3001|3001".to_owned());
    }
    let path = |name: &str| {
        inputs
            .path()
            .join(name)
            .to_str()
            .expect("plain names")
            .to_owned()
    };
    let mut imports: Vec<Child> = Vec::new();
    for (name, _) in profiles.iter().chain(&profiles) {
        imports.push(start(
            folder.path(),
            &["import", "--wait", PATIENCE, "--db", DATABASE, &path(name)],
        ));
    }
    while imports
        .iter_mut()
        .any(|import| import.try_wait().expect("a child").is_none())
    {
        if !folder.path().join(DATABASE).exists() {
            continue;
        }
        let Some(runs) = seen(folder.path()) else {
            continue;
        };
        assert!(
            runs.len() >= before.len() && runs[..before.len()] == before,
            "{before:?} has become {runs:?}"
        );
        for run in &runs {
            let parts: Vec<&str> = run.split('|').collect();
            assert_eq!(parts[1], parts[2], "a part of a run is seen: {run}");
        }
        before = runs;
    }
    let mut stored = 0;
    for import in imports {
        let done = end(import);
        assert!(done.status.success(), "{}", text(&done.stderr));
        stored += usize::from(!done.stdout.is_empty());
    }
    assert_eq!(
        stored,
        profiles.len(),
        "each profile is stored by one of two programs"
    );
    let mut expected: Vec<String> = profiles
        .iter()
        .map(|(name, rows)| format!("{name}|{rows}|{rows}"))
        .collect();
    let mut found = seen(folder.path()).expect("nobody else is here");
    found.retain(|run| !run.starts_with("first.csv"));
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    check(folder.path(), "many");
    // Whoever reads a database with a log has to leave two files beside it.
    let ours = entries(folder.path())
        .into_iter()
        .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    assert_eq!(ours.collect::<Vec<_>>(), [DATABASE]);
}

#[test]
fn many_imports_into_a_new_file() {
    many_imports(None);
}

#[test]
fn many_imports_with_a_journal() {
    many_imports(Some("DELETE"));
}

#[test]
fn many_imports_with_a_log() {
    many_imports(Some("WAL"));
}

/// Each grows a file of its own, and only one of them gets the name: the others' runs go there,
/// too, though nobody can read their input again. The same content is stored as often as that is
/// asked for.
#[test]
fn imports_from_pipes_into_one_new_file_all_succeed() {
    for (again, contents, expected) in
        [(false, vec![2500, 2600, 2500], 2), (true, vec![2500; 2], 2)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let mut children: Vec<(Child, usize)> = contents
            .into_iter()
            .map(|rows| {
                let arguments = [
                    &["import", "--wait", PATIENCE, "--db", DATABASE, "-"][..],
                    if again { &["--again"] } else { &[] },
                ]
                .concat();
                let mut command = profdb(folder.path(), &arguments);
                command
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped());
                (command.spawn().expect("the program is there"), rows)
            })
            .collect();
        let mut pipes = Vec::new();
        for (child, rows) in &mut children {
            let mut pipe = child.stdin.take().expect("a pipe");
            // Enough to begin with, and the rest when all of them have.
            let whole = csv(100_000 + *rows, 100);
            let (first, rest) = whole.split_at(whole.len() - 20 * *rows);
            pipe.write_all(first.as_bytes()).expect("it reads");
            pipes.push((pipe, rest.to_owned()));
        }
        let growing = || {
            entries(folder.path())
                .iter()
                .filter(|name| name.ends_with(".importing"))
                .count()
        };
        while growing() < children.len() {
            std::thread::yield_now();
        }
        for (mut pipe, rest) in pipes {
            pipe.write_all(rest.as_bytes()).expect("it reads");
        }
        for (child, rows) in children {
            let done = end(child);
            assert!(done.status.success(), "{rows}: {}", text(&done.stderr));
        }
        check(folder.path(), "pipes");
        let database = Connection::open(folder.path().join(DATABASE)).expect("it is there");
        let runs: i64 = database
            .query_row("SELECT COUNT(*) FROM runs", [], |row| row.get(0))
            .expect("a number");
        assert_eq!(runs, expected, "again: {again}");
        assert_eq!(
            entries(folder.path()).into_iter().collect::<Vec<_>>(),
            [DATABASE]
        );
    }
}

/// A database with a run, and a profile to import.
fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("first.csv"), csv(3000, 7)).expect("space on the disk");
    fs::write(folder.path().join("next.csv"), csv(40_000, 2000)).expect("space on the disk");
    import(folder.path(), &folder.path().join("first.csv"));
    folder
}

const WAITS: &str = "profdb: x.db: the database is locked by another program; waiting up to ";

/// Reads what a program says on standard error up to the end of a line.
fn line(child: &mut Child) -> String {
    let error = child.stderr.as_mut().expect("a pipe");
    let mut line = Vec::new();
    let mut byte = [0];
    while error.read(&mut byte).expect("a pipe") == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    text(&line)
}

#[test]
fn a_wait_is_told_and_ends() {
    let folder = place();
    let other = Connection::open(folder.path().join(DATABASE)).expect("it is there");
    other
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else is here");
    let done = end(start(
        folder.path(),
        &["import", "--wait", "2", "--db", DATABASE, "next.csv"],
    ));
    assert_eq!(done.status.code(), Some(5));
    let locked = "profdb: x.db: another program has locked the database for 2 seconds\n";
    assert_eq!(text(&done.stderr), format!("{WAITS}2 seconds\n{locked}"));
    let mut child = start(folder.path(), &["import", "--db", DATABASE, "next.csv"]);
    assert_eq!(line(&mut child), format!("{WAITS}60 seconds"));
    other.execute_batch("ROLLBACK").expect("it is open");
    assert!(end(child).status.success());
    check(folder.path(), "after waiting");
}

/// What is said to be there already is in the file that is there by now.
#[test]
fn a_database_that_is_replaced_while_it_is_waited_for_is_not_spoken_for() {
    for journal in ["wal", "delete"] {
        for (command, from) in [("import", "--db"), ("merge", DATABASE)] {
            let folder = place();
            let at = |name: &str| folder.path().join(name);
            fs::copy(at("next.csv"), at("there.csv")).expect("space on the disk");
            let import = |database: &str| {
                let arguments = ["import", "--db", database, "there.csv"];
                let done = profdb(folder.path(), &arguments).output();
                assert!(done.expect("the program is there").status.success());
            };
            import(DATABASE);
            import("same.db");
            fs::write(at("other.folded"), "a;b 1\n").expect("space on the disk");
            let other = ["import", "--db", "other.db", "other.folded"];
            assert!(
                profdb(folder.path(), &other)
                    .output()
                    .expect("the program is there")
                    .status
                    .success()
            );
            let lock = Connection::open(at(DATABASE)).expect("it is there");
            lock.query_row(&format!("PRAGMA journal_mode = {journal}"), [], |_| Ok(()))
                .expect("nobody else is here");
            lock.execute_batch("BEGIN IMMEDIATE")
                .expect("nobody else is here");
            // Of a pipe, it is unknown beforehand what it will hold.
            let arguments = if command == "import" {
                vec![command, from, DATABASE, "-"]
            } else {
                vec![command, from, "same.db"]
            };
            let mut waiting = profdb(folder.path(), &arguments);
            waiting.stdin(fs::File::open(at("there.csv")).expect("it is there"));
            let mut child = waiting
                .stderr(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the program is there");
            assert_eq!(
                line(&mut child),
                format!("{WAITS}60 seconds"),
                "{journal}, {arguments:?}"
            );
            fs::rename(at("other.db"), at(DATABASE)).expect("the same folder");
            lock.execute_batch("ROLLBACK").expect("it is open");
            let done = end(child);
            let said = text(&done.stderr);
            assert_eq!(
                done.status.code(),
                Some(5),
                "{journal}, {arguments:?}: {said}"
            );
            assert!(
                said.contains("another process replaced, moved or overwrote the database"),
                "{journal}, {arguments:?}: {said}"
            );
        }
    }
}

/// SQLite would wait at every page that it has no room for.
#[test]
fn a_program_that_reads_on_is_waited_for_once() {
    for index in ["", "CREATE INDEX mine ON nodes (function_id)"] {
        let folder = place();
        let other = Connection::open(folder.path().join(DATABASE)).expect("it is there");
        // With an index of somebody else, all rows go through SQL.
        other.execute_batch(index).expect("nobody else is here");
        other
            .execute_batch("BEGIN; SELECT COUNT(*) FROM runs")
            .expect("it can be read");
        let done = end(start(
            folder.path(),
            &["import", "--wait", "2", "--db", DATABASE, "next.csv"],
        ));
        assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
        assert_eq!(
            text(&done.stderr).matches(WAITS).count(),
            1,
            "{}",
            text(&done.stderr)
        );
        let mut child = start(folder.path(), &["import", "--db", DATABASE, "next.csv"]);
        assert_eq!(line(&mut child), format!("{WAITS}60 seconds"), "{index}");
        other.execute_batch("COMMIT").expect("it is open");
        assert!(end(child).status.success(), "{index}");
        check(folder.path(), index);
    }
}

#[test]
fn who_waits_for_a_lock_can_be_asked_to_stop() {
    for signal in ["INT", "TERM"] {
        let folder = place();
        let other = Connection::open(folder.path().join(DATABASE)).expect("it is there");
        other
            .execute_batch("BEGIN IMMEDIATE")
            .expect("nobody else is here");
        let mut child = start(folder.path(), &["import", "--db", DATABASE, "next.csv"]);
        assert_eq!(line(&mut child), format!("{WAITS}60 seconds"));
        interrupt(&child, signal);
        let done = end(child);
        assert_eq!(done.status.code(), Some(130), "{signal}");
        assert_eq!(
            text(&done.stderr),
            "profdb: next.csv: interrupted, nothing imported\n",
            "{signal}"
        );
    }
}

/// Standard input that never ends keeps nobody from rolling back.
#[test]
fn who_waits_for_input_can_be_asked_to_stop() {
    for (signal, is_new) in [("INT", true), ("TERM", true), ("INT", false)] {
        let folder = tempfile::tempdir().expect("a folder");
        if !is_new {
            import(folder.path(), &{
                let first = folder.path().join("first.csv");
                fs::write(&first, csv(3000, 7)).expect("space on the disk");
                first
            });
            fs::remove_file(folder.path().join("first.csv")).expect("it is there");
        }
        let there = entries(folder.path());
        let bytes = fs::read(folder.path().join(DATABASE)).ok();
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE, "-"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program is there");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(csv(100_000, 100).as_bytes())
            .expect("it reads");
        let begun = || {
            let other = Connection::open(folder.path().join(DATABASE)).expect("it is there");
            other.busy_timeout(Duration::ZERO).expect("a number");
            other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_err()
        };
        while if is_new {
            growing(folder.path()).is_none()
        } else {
            !begun()
        } {
            std::thread::yield_now();
        }
        interrupt(&child, signal);
        let done = end(child);
        assert_eq!(
            done.status.code(),
            Some(130),
            "{signal}, {}",
            text(&done.stderr)
        );
        assert_eq!(entries(folder.path()), there, "{signal}");
        assert_eq!(
            fs::read(folder.path().join(DATABASE)).ok(),
            bytes,
            "{signal}"
        );
        drop(pipe);
    }
}

/// More output than a pipe holds.
const LONG: [&[&str]; 3] = [
    &[
        "sql",
        "--db",
        DATABASE,
        "SELECT node_id, depth, function_id, exclusive FROM nodes",
    ],
    &["export", "--format", "dyalog_csv", "--db", DATABASE],
    &["report", "tree", "--db", DATABASE, "--format", "json"],
];

fn long_place() -> tempfile::TempDir {
    let folder = place();
    import(folder.path(), &folder.path().join("next.csv"));
    folder
}

#[test]
fn output_that_nobody_reads_can_be_stopped() {
    let folder = long_place();
    for arguments in LONG {
        let mut child = start(folder.path(), arguments);
        let mut first = [0];
        child
            .stdout
            .as_mut()
            .expect("a pipe")
            .read_exact(&mut first)
            .expect("it writes");
        interrupt(&child, "INT");
        // Its standard output stays open, and full.
        let mut output = child.stdout.take().expect("a pipe");
        assert_eq!(
            child.wait().expect("it ends").code(),
            Some(130),
            "{arguments:?}"
        );
        output.read_to_end(&mut Vec::new()).expect("a pipe");
    }
}

#[test]
fn a_closed_pipe_is_no_failure_and_a_full_disk_is_one() {
    let folder = long_place();
    for arguments in LONG {
        let mut child = start(folder.path(), arguments);
        let mut first = [0];
        child
            .stdout
            .as_mut()
            .expect("a pipe")
            .read_exact(&mut first)
            .expect("it writes");
        drop(child.stdout.take());
        let done = end(child);
        assert_eq!(
            (done.status.code(), text(&done.stderr)),
            (Some(0), String::new()),
            "{arguments:?}"
        );

        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("Linux has it");
        let done = profdb(folder.path(), arguments)
            .stdout(full)
            .output()
            .expect("the program is there");
        assert_eq!(done.status.code(), Some(1), "{arguments:?}");
        let said = text(&done.stderr);
        assert!(
            said.starts_with("profdb: cannot write the output: No space left on device"),
            "{arguments:?}: {said}"
        );
    }
}

/// The database stays open from file to file; what another program does to it meanwhile is seen.
#[test]
fn a_schema_that_changes_between_two_files_of_a_command_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("first.csv"), csv(3000, 100)).expect("room for a file");
    for (change, refused) in [
        ("CREATE TABLE mine (x)", None),
        (
            "CREATE TRIGGER t AFTER INSERT ON nodes BEGIN SELECT 1; END",
            Some("the trigger t does not belong to profdb"),
        ),
    ] {
        let arguments = ["import", "--db", DATABASE, "--again", "first.csv", "-"];
        let mut command = profdb(folder.path(), &arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program is there");
        let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("UTF-8");
        assert!(line.starts_with("first.csv: run "), "{line}");
        let other = Connection::open(folder.path().join(DATABASE)).expect("it is there");
        other.execute_batch(change).expect("no one has a lock");
        drop(other);
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(csv(3100, 100).as_bytes()).expect("it reads");
        drop(pipe);
        let ended = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        match refused {
            None => assert_eq!(ended.status.code(), Some(0), "{said}"),
            Some(refused) => {
                assert_eq!(ended.status.code(), Some(5), "{said}");
                assert!(said.contains(refused), "{said}");
            }
        }
    }
}
