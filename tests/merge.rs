//! Databases that are merged say what one database says into which all files were imported.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use faults::{calls, content, entries, profdb, profiles, same, text, with_fault};
use rusqlite::Connection;
use tempfile::TempDir;

#[path = "support/faults.rs"]
#[expect(dead_code, reason = "most of it is about imports")]
mod faults;

/// Imports profiles into a database, each with tags.
fn import(folder: &Path, database: &str, files: &[PathBuf]) {
    for (at, file) in files.iter().enumerate() {
        let tag = format!("place=p{}", at % 3);
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/cli/code/case.in");
        let mut command = profdb(folder, &["import", "--db", database, "--tag", &tag, "--source", source]);
        let done = command.arg(file).output().expect("the program is there");
        assert!(done.status.success(), "{}: {}", file.display(), text(&done.stderr));
    }
}

fn merge(folder: &Path, databases: &[&str]) -> Output {
    profdb(folder, &["merge"]).args(databases).output().expect("the program is there")
}

fn merged(folder: &Path, databases: &[&str]) -> String {
    let done = merge(folder, databases);
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// Profiles of all formats, long ones, of code that has a source, and of samples that have labels.
fn files() -> Vec<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let more = ["cli/code", "pprof/labels"].into_iter().flat_map(|case| {
        let input = cases.join(case).join("case.in");
        entries(&input).into_iter().map(move |name| input.join(name)).filter(|path| path.is_file()).take(1)
    });
    profiles().short.iter().chain(&profiles().long).cloned().chain(more).collect()
}

/// Two databases that have a run in common.
fn two() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files();
    let half = files.len() / 2;
    import(folder.path(), "a.db", &files[..half]);
    import(folder.path(), "b.db", &files[half - 1..]);
    folder
}

fn check(folder: &Path, database: &str) {
    let done = profdb(folder, &["check", "--db", database]).output().expect("the program is there");
    assert!(done.status.success(), "{}", text(&done.stdout));
}

#[test]
fn says_what_one_database_says() {
    let folder = two();
    let path = folder.path();
    let bytes = fs::read(path.join("b.db")).expect("it is there");
    merged(path, &["a.db", "b.db"]);
    check(path, "a.db");
    import(path, "all.db", &files());
    // Tags are those of the first of two equal runs, in the order of the imports.
    let retag = "UPDATE run_tags SET value = 'any'";
    for database in ["a.db", "all.db"] {
        Connection::open(path.join(database)).expect("it is there").execute_batch(retag).expect("nobody else is here");
    }
    let all = content(&path.join("all.db"), 0);
    same(&content(&path.join("a.db"), 0), &all, "merged into one that has runs");
    for table in ["node_costs", "node_labels", "line_info", "notes", "source_texts", "run_properties"] {
        assert!(!all[table].is_empty(), "nothing is said of {table}");
    }
    assert_eq!(fs::read(path.join("b.db")).expect("it is there"), bytes);
    assert_eq!(entries(path).len(), 3, "{:?}", entries(path));

    // Once more changes nothing, nor does a database into itself.
    let before = fs::read(path.join("a.db")).expect("it is there");
    assert_eq!(merged(path, &["a.db", "b.db", "a.db"]), "");
    assert_eq!(fs::read(path.join("a.db")).expect("it is there"), before);

    // Into none.
    merged(path, &["new.db", "a.db", "b.db"]);
    check(path, "new.db");
    same(&content(&path.join("new.db"), 0), &all, "merged into a new one");
    assert_eq!(entries(path).len(), 4, "{:?}", entries(path));
}

#[test]
fn merges_all_or_nothing_whenever_it_is_killed() {
    let folder = two();
    let original = content(&folder.path().join("a.db"), i64::MAX);
    let copy = |_: usize| {
        let place = tempfile::tempdir().expect("a folder");
        faults::copy(folder.path(), place.path());
        place
    };
    let log = tempfile::NamedTempFile::new().expect("a file");
    let place = copy(0);
    let mut command = profdb(place.path(), &["merge", "a.db", "b.db"]);
    with_fault(&mut command, place.path(), log.path(), 0, "");
    assert!(command.status().expect("the program is there").success());
    let whole = content(&place.path().join("a.db"), i64::MAX);
    let calls = calls(log.path()).len();
    for (at, what) in
        (1..10).map(|tenth| calls * tenth / 10).chain([calls - 2]).zip(["kill", "28", "int", "5"].iter().cycle())
    {
        let place = copy(at);
        let mut command = profdb(place.path(), &["merge", "a.db", "b.db"]);
        with_fault(&mut command, place.path(), Path::new("/dev/null"), at, what);
        let done = command.output().expect("the program is there");
        let about = format!("{what} at {at} of {calls}: {}", text(&done.stderr));
        assert!(matches!(done.status.code(), None | Some(0 | 5 | 130)), "{about}");
        check(place.path(), "a.db");
        let found = content(&place.path().join("a.db"), i64::MAX);
        same(&found, if done.status.success() || found == whole { &whole } else { &original }, &about);
        merged(place.path(), &["a.db", "b.db"]);
        same(&content(&place.path().join("a.db"), i64::MAX), &whole, &about);
        assert_eq!(entries(place.path()).len(), 2, "{about}: {:?}", entries(place.path()));
    }
}

/// A database that a stranger has changed is refused, and what it was to be merged into stays as it is.
#[test]
fn refuses_what_it_cannot_trust() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &files()[..1]);
    import(path, "sound.db", &files()[1..3]);
    let before = fs::read(path.join("a.db")).expect("it is there");
    let changes = [
        ("UPDATE function_info SET exclusive = exclusive + 1", "checks of it fail"),
        ("UPDATE nodes SET function_id = 9999 WHERE node_id = 2", "checks of it fail"),
        ("UPDATE runs SET last_node = 9223372036854775807", "checks of it fail"),
        ("DELETE FROM functions WHERE function_id = 1", "checks of it fail"),
        (
            "ALTER TABLE nodes RENAME TO other; CREATE VIEW nodes AS SELECT * FROM other",
            "the view nodes is not the table that profdb makes",
        ),
        ("ALTER TABLE notes ADD COLUMN more TEXT", "the table notes is not the table that profdb makes"),
        // Checks would see what it shows them.
        (
            "DROP VIEW tree; CREATE VIEW tree AS SELECT * FROM nodes WHERE 0",
            "its views are not as this profdb makes them",
        ),
        ("CREATE TRIGGER odd AFTER INSERT ON nodes BEGIN DELETE FROM runs; END", "the trigger odd is none of profdb's"),
        ("PRAGMA user_version = 3", "is not the table that profdb makes"),
        ("PRAGMA user_version = 99", "has schema version 99"),
        ("PRAGMA application_id = 1", "not one of profdb"),
    ];
    for (sql, message) in changes {
        fs::copy(path.join("sound.db"), path.join("odd.db")).expect("space on the disk");
        let odd = Connection::open(path.join("odd.db")).expect("it is there");
        odd.execute_batch(&format!("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; {sql}")).expect(sql);
        drop(odd);
        let done = merge(path, &["a.db", "odd.db"]);
        assert_eq!(done.status.code(), Some(5), "{sql}: {}", text(&done.stdout));
        let said = text(&done.stderr);
        assert!(said.starts_with("profdb: odd.db") && said.contains(message), "{sql}: {said}");
        assert_eq!(fs::read(path.join("a.db")).expect("it is there"), before, "{sql}");
    }
    // One bad database among several: nothing is merged.
    let done = merge(path, &["a.db", "sound.db", "odd.db"]);
    assert_eq!(done.status.code(), Some(5));
    assert_eq!(fs::read(path.join("a.db")).expect("it is there"), before);
}
