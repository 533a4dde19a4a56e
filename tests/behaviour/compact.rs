//! A database that is compacted, or loses a run, says what it said before of all that is left, and
//! nothing is half done.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::faults;
use crate::support::faults::{
    DATABASE, calls, check, content, csv, entries, import, profdb, same, text, with_fault,
};
use crate::support::long;
use rusqlite::Connection;
use tempfile::TempDir;

const COMPACT: &[&str] = &["compact", "--db", DATABASE, "--wait", "1"];

/// A database with three long runs, the second of which shares functions with the others, and a
/// short one.
fn four_runs() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = tempfile::tempdir().expect("a folder");
    for (at, (rows, functions)) in [(4000, 7), (9000, 30), (6000, 20), (20, 3)]
        .into_iter()
        .enumerate()
    {
        let profile = inputs.path().join(format!("{at}.csv"));
        fs::write(&profile, csv(rows, functions)).expect("space on the disk");
        import(folder.path(), &profile);
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    profdb(folder, arguments)
        .output()
        .expect("the program is there")
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let done = run(folder, arguments);
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    text(&done.stdout)
}

fn delete(folder: &Path, number: &str) {
    done(folder, &["delete", "--db", DATABASE, number]);
}

fn one<T: rusqlite::types::FromSql>(path: &Path, sql: &str) -> T {
    let database = Connection::open(path).expect("it is there");
    database
        .query_row(sql, [], |row| row.get(0))
        .expect("an answer")
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).expect("it is there").len()
}

/// Whichever run goes, what is left is what a shell leaves that knows the triggers only.
#[test]
fn a_run_is_deleted_as_triggers_do() {
    let folder = four_runs();
    let path = folder.path().join(DATABASE);
    for numbers in [
        &["1"] as &[_],
        &["2"],
        &["3"],
        &["4"],
        &["2", "1"],
        &["1", "2", "3"],
        &["4", "3", "2", "1"],
    ] {
        let place = tempfile::tempdir().expect("a folder");
        faults::copy(folder.path(), place.path());
        let shell = place.path().join("shell.db");
        fs::copy(&path, &shell).expect("space on the disk");
        let about = format!("{numbers:?}");
        for number in numbers {
            delete(place.path(), number);
            let database = Connection::open(&shell).expect("it is there");
            database
                .execute(&format!("DELETE FROM runs WHERE run_id = {number}"), [])
                .expect("it may be written");
        }
        let own = place.path().join(DATABASE);
        same(&content(&own, i64::MAX), &content(&shell, i64::MAX), &about);
        check(place.path(), &about);
        // What is free is used again.
        let before = size(&own);
        let profile = place.path().join("more.csv");
        fs::write(&profile, csv(3000, 7)).expect("space on the disk");
        import(place.path(), &profile);
        check(place.path(), &about);
        assert!(numbers == ["4"] || size(&own) == before, "{about}");
    }
}

/// A run whose rows a user has an index of their own on goes with its rows in that index.
#[test]
fn an_index_of_the_user_loses_what_a_run_had_there() {
    let folder = four_runs();
    let path = folder.path().join(DATABASE);
    let database = Connection::open(&path).expect("it is there");
    database
        .execute_batch("CREATE INDEX own ON nodes (depth, node_id)")
        .expect("it may be written");
    drop(database);
    delete(folder.path(), "2");
    check(folder.path(), "with an index");
    let left: i64 = one(
        &path,
        "SELECT COUNT(*) FROM nodes INDEXED BY own WHERE depth >= 0",
    );
    let nodes: i64 = one(&path, "SELECT SUM(last_node - first_node + 1) FROM runs");
    assert_eq!(left, nodes);
}

#[test]
fn gives_back_what_deleted_runs_have_left() {
    for journal in ["delete", "wal"] {
        let folder = four_runs();
        let path = folder.path().join(DATABASE);
        let _: String = one(&path, &format!("PRAGMA journal_mode = {journal}"));
        delete(folder.path(), "1");
        delete(folder.path(), "3");
        let before = content(&path, i64::MAX);
        let _: i64 = one(&path, "PRAGMA wal_checkpoint(TRUNCATE)");
        let bytes = size(&path);
        let said = done(folder.path(), COMPACT);
        let now = size(&path);
        assert_eq!(
            said,
            format!("{DATABASE}: {bytes} bytes before, {now} bytes now\n")
        );
        assert!(now < bytes * 2 / 3, "{journal}: {said}");
        same(&content(&path, i64::MAX), &before, journal);
        check(folder.path(), journal);
        assert_eq!(one::<i64>(&path, "PRAGMA freelist_count"), 0, "{journal}");
        assert_eq!(one::<String>(&path, "PRAGMA journal_mode"), journal);
        let is_ours = |name: &String| name.starts_with(DATABASE);
        assert!(entries(folder.path()).iter().all(is_ours), "{journal}");
        // Once more changes nothing.
        let said = done(folder.path(), COMPACT);
        assert_eq!(
            said,
            format!("{DATABASE}: {now} bytes before, {now} bytes now\n")
        );
        same(&content(&path, i64::MAX), &before, journal);
        // A later run goes into it as into any other.
        let profile = folder.path().join("more.csv");
        fs::write(&profile, csv(3000, 7)).expect("space on the disk");
        import(folder.path(), &profile);
        check(folder.path(), journal);
    }
}

/// A file with pages of another size has to be left to SQLite.
#[test]
fn compacts_what_has_other_pages() {
    let folder = four_runs();
    let path = folder.path().join(DATABASE);
    let database = Connection::open(&path).expect("it is there");
    database
        .execute_batch("PRAGMA page_size = 8192; VACUUM")
        .expect("space on the disk");
    drop(database);
    delete(folder.path(), "2");
    let before = content(&path, i64::MAX);
    let bytes = size(&path);
    done(folder.path(), COMPACT);
    assert!(size(&path) < bytes * 3 / 4);
    assert_eq!(one::<i64>(&path, "PRAGMA page_size"), 8192);
    same(&content(&path, i64::MAX), &before, "other pages");
    check(folder.path(), "other pages");
}

/// Whoever reads or writes is waited for, and then the command says so.
#[test]
fn does_not_compact_what_another_program_uses() {
    let folder = four_runs();
    let path = folder.path().join(DATABASE);
    delete(folder.path(), "2");
    let before = fs::read(&path).expect("it is there");
    let other = Connection::open(&path).expect("it is there");
    for begin in [
        "BEGIN IMMEDIATE",
        "BEGIN; SELECT COUNT(*) FROM runs",
        "BEGIN EXCLUSIVE",
    ] {
        other.execute_batch(begin).expect("no one else is here");
        let done = run(folder.path(), COMPACT);
        other.execute_batch("ROLLBACK").expect("it is open");
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{begin}: {said}");
        let locked = "profdb: x.db: another program has locked the database for 1 second\n";
        assert!(said.ends_with(locked), "{begin}: {said}");
        assert!(fs::read(&path).expect("it is there") == before, "{begin}");
        assert_eq!(entries(folder.path()).len(), 1, "{begin}");
    }
}

#[test]
fn is_there_whole_whenever_it_is_killed() {
    let folder = four_runs();
    let path = folder.path().join(DATABASE);
    let original = content(&path, i64::MAX);
    let delete: &[&str] = &["delete", "--db", DATABASE, "2"];
    for arguments in [delete, COMPACT] {
        let copy = || {
            let place = tempfile::tempdir().expect("a folder");
            faults::copy(folder.path(), place.path());
            place
        };
        let log = tempfile::NamedTempFile::new().expect("a file");
        let place = copy();
        let mut command = profdb(place.path(), arguments);
        with_fault(&mut command, place.path(), log.path(), 0, "");
        let first = command.output().expect("the program is there");
        assert!(first.status.success(), "{first:?}");
        let whole = content(&place.path().join(DATABASE), i64::MAX);
        let calls = calls(log.path()).len();
        let parts = if long::is_long() { 12 } else { 4 };
        for (at, what) in (1..parts)
            .map(|part| calls * part / parts)
            .chain([calls - 2])
            .zip(["kill", "28", "int", "5"].iter().cycle())
        {
            let place = copy();
            let mut command = profdb(place.path(), arguments);
            with_fault(&mut command, place.path(), Path::new("/dev/null"), at, what);
            let done = command.output().expect("the program is there");
            let about = format!("{arguments:?}, {what} at {at} of {calls}: {done:?}");
            assert!(
                matches!(done.status.code(), None | Some(0 | 5 | 130)),
                "{about}"
            );
            check(place.path(), &about);
            let found = content(&place.path().join(DATABASE), i64::MAX);
            let is_done = done.status.success() || found == whole;
            same(&found, if is_done { &whole } else { &original }, &about);
            // Compacting removes what is left of an interrupted command.
            crate::compact::done(place.path(), COMPACT);
            let left: Vec<_> = entries(place.path()).into_iter().collect();
            assert_eq!(left, [DATABASE], "{about}");
        }
    }
}
