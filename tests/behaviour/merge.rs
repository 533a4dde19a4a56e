//! Databases that are merged say what one database says into which all files were imported.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::case_files::{self, repository_path};
use crate::support::faults;
use crate::support::faults::{calls, content, entries, profdb, profiles, same, text, with_fault};
use crate::support::long;
use profdb::store::Database;
use rusqlite::Connection;
use tempfile::TempDir;

/// Imports profiles into a database, each with a tag of its own.
fn import(folder: &Path, database: &str, files: &[PathBuf]) {
    for file in files {
        let tag = format!("place=p{}", file.as_os_str().len() % 3);
        let source = repository_path("tests/cases/cli/code");
        let source = source.to_str().expect("plain");
        let mut command = profdb(
            folder,
            &[
                "import", "--db", database, "--tag", &tag, "--source", source,
            ],
        );
        let done = command.arg(file).output().expect("the program is there");
        assert!(
            done.status.success(),
            "{}: {}",
            file.display(),
            text(&done.stderr)
        );
    }
}

fn merge(folder: &Path, databases: &[&str]) -> Output {
    profdb(folder, &["merge"])
        .args(databases)
        .output()
        .expect("the program is there")
}

fn merged(folder: &Path, databases: &[&str]) -> String {
    let done = merge(folder, databases);
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// Profiles of all formats, long ones, of code that has a source, and of samples that have labels.
fn files() -> Vec<PathBuf> {
    let more = ["tests/cases/cli/code", "tests/cases/pprof/labels"].map(repository_path);
    let more = more.iter().flat_map(|folder| {
        let files = case_files::entries(folder).into_iter();
        files.filter(|path| path.is_file()).take(1)
    });
    profiles()
        .short
        .iter()
        .chain(&profiles().long)
        .cloned()
        .chain(more)
        .collect()
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
    let done = profdb(folder, &["check", "--db", database])
        .output()
        .expect("the program is there");
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
    let all = content(&path.join("all.db"), 0);
    same(
        &content(&path.join("a.db"), 0),
        &all,
        "merged into one that has runs",
    );
    for table in [
        "node_costs",
        "node_labels",
        "line_info",
        "notes",
        "source_texts",
        "run_properties",
    ] {
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
    same(
        &content(&path.join("new.db"), 0),
        &all,
        "merged into a new one",
    );
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
    let first = command.output().expect("the program is there");
    assert!(first.status.success(), "{first:?}");
    let whole = content(&place.path().join("a.db"), i64::MAX);
    let calls = calls(log.path()).len();
    let parts = if long::is_long() { 6 } else { 3 };
    for (at, what) in (1..parts)
        .map(|part| calls * part / parts)
        .chain([calls - 2])
        .zip(["kill", "28", "int", "5"].iter().cycle())
    {
        let place = copy(at);
        let mut command = profdb(place.path(), &["merge", "a.db", "b.db"]);
        with_fault(&mut command, place.path(), Path::new("/dev/null"), at, what);
        let done = command.output().expect("the program is there");
        let about = format!("{what} at {at} of {calls}: {}", text(&done.stderr));
        assert!(
            matches!(done.status.code(), None | Some(0 | 5 | 130)),
            "{about}"
        );
        check(place.path(), "a.db");
        let found = content(&place.path().join("a.db"), i64::MAX);
        same(
            &found,
            if done.status.success() || found == whole {
                &whole
            } else {
                &original
            },
            &about,
        );
        merged(place.path(), &["a.db", "b.db"]);
        same(
            &content(&place.path().join("a.db"), i64::MAX),
            &whole,
            &about,
        );
        assert_eq!(
            entries(place.path()).len(),
            2,
            "{about}: {:?}",
            entries(place.path())
        );
    }
}

/// A database that a stranger has changed is refused, and what it was to be merged into stays as it
/// is.
#[test]
fn refuses_what_it_cannot_trust() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &files()[..1]);
    import(path, "sound.db", &files()[1..3]);
    let before = fs::read(path.join("a.db")).expect("it is there");
    let changes = [
        (
            "UPDATE function_info SET exclusive = exclusive + 1",
            "its checks fail",
        ),
        (
            "UPDATE nodes SET function_id = 9999 WHERE node_id = 2",
            "its checks fail",
        ),
        (
            "UPDATE runs SET last_node = 9223372036854775807",
            "its checks fail",
        ),
        (
            "DELETE FROM functions WHERE function_id = 1",
            "its checks fail",
        ),
        (
            "ALTER TABLE nodes RENAME TO other; CREATE VIEW nodes AS SELECT * FROM other",
            "the view nodes is not the table that profdb makes",
        ),
        (
            "ALTER TABLE notes ADD COLUMN more TEXT",
            "the table notes is not the table that profdb makes",
        ),
        // Checks would see what it shows them.
        (
            "DROP VIEW tree; CREATE VIEW tree AS SELECT * FROM nodes WHERE 0",
            "its views differ from those of this profdb",
        ),
        (
            "CREATE TRIGGER odd AFTER INSERT ON nodes BEGIN DELETE FROM runs; END",
            "the trigger odd does not belong to profdb",
        ),
        (
            "PRAGMA user_version = 3",
            "has schema version 3, this profdb reads versions from 13 on; import the profiles again into a new database",
        ),
        ("PRAGMA user_version = 99", "has schema version 99"),
        ("PRAGMA application_id = 1", "is not a profdb database"),
    ];
    for (sql, message) in changes {
        fs::copy(path.join("sound.db"), path.join("odd.db")).expect("space on the disk");
        let odd = Connection::open(path.join("odd.db")).expect("it is there");
        odd.execute_batch(&format!(
            "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; {sql}"
        ))
        .expect(sql);
        drop(odd);
        let done = merge(path, &["a.db", "odd.db"]);
        assert_eq!(done.status.code(), Some(5), "{sql}: {}", text(&done.stdout));
        let said = text(&done.stderr);
        assert!(
            said.starts_with("profdb: odd.db") && said.contains(message),
            "{sql}: {said}"
        );
        assert_eq!(
            fs::read(path.join("a.db")).expect("it is there"),
            before,
            "{sql}"
        );
    }
    // One bad database among several: nothing is merged.
    let done = merge(path, &["a.db", "sound.db", "odd.db"]);
    assert_eq!(done.status.code(), Some(5));
    assert_eq!(fs::read(path.join("a.db")).expect("it is there"), before);
}

/// What has been said of a run: its title, its tags, and the notes about them.
fn said(path: &Path) -> Vec<String> {
    let database = Connection::open(path).expect("it is there");
    let sql = "SELECT COALESCE(title, '-') FROM runs
               UNION ALL SELECT key || '=' || value FROM run_tags
               UNION ALL SELECT severity || ': ' || message FROM notes WHERE message GLOB 'merged*'";
    let mut statement = database.prepare(sql).expect("columns");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// What is said of equal runs adds up; where it differs, ours stays, with a note.
#[test]
fn unites_what_is_said_of_equal_runs() {
    let file = &files()[0];
    let nothing = "SELECT 1";
    // What is said here, what there, what after that, and what the program tells.
    let table: [(&str, &str, &[&str], &str); 6] = [
        (nothing, nothing, &["-"], ""),
        (
            nothing,
            "INSERT INTO run_tags VALUES (1, 'b', '2')",
            &["-", "b=2"],
            "; added to it: b=2",
        ),
        (
            "INSERT INTO run_tags VALUES (1, 'a', '1')",
            nothing,
            &["-", "a=1"],
            "",
        ),
        (
            "INSERT INTO run_tags VALUES (1, 'a', '1'), (1, 'c', '3')",
            "INSERT INTO run_tags VALUES (1, 'a', '2'), (1, 'b', '2'), (1, 'c', '3')",
            &[
                "-",
                "a=1",
                "b=2",
                "c=3",
                "info: merged with a run whose tag a is 2: 1 is kept",
            ],
            "; added to it: b=2; not added because of another value: a=2",
        ),
        (
            nothing,
            "UPDATE runs SET title = 'theirs'",
            &["theirs"],
            "; added to it: title theirs",
        ),
        (
            "UPDATE runs SET title = 'ours'",
            "UPDATE runs SET title = 'theirs'",
            &[
                "ours",
                "info: merged with a run whose title is theirs: ours is kept",
            ],
            "; not added because of another value: title theirs",
        ),
    ];
    for (ours, theirs, expected, told) in table {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        for (database, say) in [("a.db", ours), ("b.db", theirs)] {
            let done = profdb(path, &["import", "--db", database])
                .arg(file)
                .output()
                .expect("the program is there");
            assert!(done.status.success(), "{}", text(&done.stderr));
            let database = Connection::open(path.join(database)).expect("it is there");
            let plain = "UPDATE runs SET title = NULL; PRAGMA foreign_keys = OFF;";
            database
                .execute_batch(&format!("{plain} {say}"))
                .expect(say);
        }
        let message = format!("profdb: b.db: run 1 is already stored as run 1{told}\n");
        assert_eq!(
            text(&merge(path, &["a.db", "b.db"]).stderr),
            message,
            "{ours}; {theirs}"
        );
        assert_eq!(said(&path.join("a.db")), expected, "{ours}; {theirs}");
        check(path, "a.db");
        // Once more changes nothing.
        let before = fs::read(path.join("a.db")).expect("it is there");
        merge(path, &["a.db", "b.db"]);
        assert_eq!(
            fs::read(path.join("a.db")).expect("it is there"),
            before,
            "{ours}; {theirs}"
        );
    }
}

/// Even where only tags are taken, they come from a database that is sound.
#[test]
fn takes_no_tags_from_what_it_cannot_trust() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &files()[..1]);
    fs::copy(path.join("a.db"), path.join("b.db")).expect("space on the disk");
    let before = fs::read(path.join("a.db")).expect("it is there");
    let odd = Connection::open(path.join("b.db")).expect("it is there");
    let change = "INSERT INTO run_tags VALUES (1, 'more', 'x'); UPDATE function_info SET exclusive = exclusive + 1";
    odd.execute_batch(change).expect("a change");
    let done = merge(path, &["a.db", "b.db"]);
    assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
    assert_eq!(fs::read(path.join("a.db")).expect("it is there"), before);
}

/// Importing the same with another title or other tags gives another run; with the same, in
/// whatever order, the same one.
#[test]
fn title_and_tags_tell_runs_of_one_content_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let file = &files()[0];
    // What is given, and the run that it is; runs are numbered in this order.
    let table: [(&[&str], i64); 10] = [
        (&[], 1),
        (&["--tag", "a=1"], 2),
        (&["--tag", "a=1", "--tag", "b=2"], 3),
        (&["--tag", "b=2", "--tag", "a=1"], 3),
        (&["--title", "first"], 4),
        (&["--title", "first", "--tag", "a=1"], 5),
        (&["--tag", "a=1"], 2),
        (&[], 1),
        (&["--title", "second"], 6),
        (&["--again", "--tag", "a=1"], 7),
    ];
    let mut runs = 0;
    for (given, run) in table {
        let done = profdb(path, &["import"])
            .args(given)
            .arg(file)
            .output()
            .expect("the program is there");
        assert_eq!(
            done.status.code(),
            Some(0),
            "{given:?}: {}",
            text(&done.stderr)
        );
        let known = format!("already imported as run {run}");
        if run > runs {
            assert!(
                text(&done.stdout).contains(&format!(": run {run}, ")),
                "{given:?}: {}",
                text(&done.stderr)
            );
            runs = run;
        } else {
            assert!(
                text(&done.stderr).contains(&known),
                "{given:?}: {}",
                text(&done.stderr)
            );
        }
    }
    // Of an older program, to which tags were no part of the identity.
    let database = Connection::open(path.join("profdb.db")).expect("it is there");
    database
        .execute_batch(
            "DELETE FROM runs WHERE run_id > 1; INSERT INTO run_tags VALUES (1, 'a', '1')",
        )
        .expect("SQL");
    drop(database);
    for (given, expected) in [("a=1", "already imported as run 1"), ("a=2", "run 8, ")] {
        let done = profdb(path, &["import", "--tag", given])
            .arg(file)
            .output()
            .expect("the program is there");
        let told = text(&done.stdout) + &text(&done.stderr);
        assert!(told.contains(expected), "{given}: {told}");
    }
}

/// Rows of long runs are copied from pages; where SQLite gives no access to them, by SQL.
#[test]
fn copies_the_same_without_pages() {
    let folder = two();
    let path = folder.path();
    let copied = |name: &str, may_read_pages: bool| {
        let mut sources: Vec<Database> = ["a.db", "b.db"]
            .iter()
            .map(|name| Database::open_read_only(&path.join(name)).expect("it is there"))
            .collect();
        if !may_read_pages {
            for source in &mut sources {
                source.read_without_pages().expect("SQLite lets us");
            }
        }
        let mut target = Database::open(&path.join(name)).expect("a new file");
        let merged = target.merge(&sources, &mut |_| ()).expect("both are sound");
        assert!(merged.iter().any(|merged| merged.nodes > 2000));
        drop(target);
        content(&path.join(name), 0)
    };
    let by_pages = copied("pages.db", true);
    let by_sql = copied("sql.db", false);
    same(&by_sql, &by_pages, "copied by SQL");
    check(path, "sql.db");
}
