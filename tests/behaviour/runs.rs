//! Choosing, tagging and deleting runs while other programs do so, too.

#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and bounded waits"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::program;
use profdb::store::{ChooseError, Database, Deletion, Keep, RunSet, StoreError, Tag, TagChange};
use tempfile::TempDir;

const DATABASE: &str = "profdb.db";

fn profdb(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program::command();
    command
        .args(arguments)
        .args(["--db", DATABASE])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    profdb(folder, arguments)
        .spawn()
        .expect("the program was built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A database with a run for each tag.
fn database(tags: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("run.folded"), "main;work 3\n").expect("space on the disk");
    for tag in tags {
        let arguments = ["import", "run.folded", "--again", "--tag", tag];
        let done = profdb(folder.path(), &arguments)
            .output()
            .expect("the program was built");
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let path = folder.path().join(DATABASE);
    (folder, path)
}

fn set(text: &str) -> RunSet {
    text.parse().expect(text)
}

fn tag(database: &mut Database, runs: &str, key: &str, value: &str) {
    let change = TagChange {
        add: vec![Tag {
            key: key.to_owned(),
            value: value.to_owned(),
        }],
        remove: Vec::new(),
    };
    database
        .tag_runs(&set(runs), &change)
        .expect("it can be written");
}

fn runs(database: &Database) -> Vec<i64> {
    match database.choose(&set("last 1000")) {
        Ok(runs) => runs,
        Err(ChooseError::NoRuns(_)) => Vec::new(),
        Err(ChooseError::Store(error)) => panic!("{error}"),
    }
}

/// Deletes what was listed before another program did something, and says what became of it.
fn deleted_after(
    tags: &[&str],
    deletion: &Deletion,
    other: impl FnOnce(&mut Database),
) -> (Vec<(i64, bool)>, Vec<i64>) {
    let (_folder, path) = database(tags);
    let mut ours = Database::open(&path).expect("a database");
    let listed = ours.to_delete(deletion).expect("runs");
    other(&mut Database::open(&path).expect("a database"));
    let mut told = Vec::new();
    ours.delete_runs(&listed, deletion, &mut |run, deleted| {
        told.push((run, deleted));
    })
    .expect("it can be written");
    (told, runs(&ours))
}

#[test]
fn a_run_that_is_tagged_meanwhile_is_deleted_no_more() {
    let deletion = |text: &str, keep: Option<u64>| Deletion {
        set: Some(set(text)),
        keep: keep.map(|newest| Keep {
            newest,
            per: vec!["a".to_owned()],
        }),
    };
    let three = ["a=1", "a=1", "a=1"];
    let told = deleted_after(&three, &deletion("a=1", None), |other| {
        tag(other, "2", "a", "2");
    });
    assert_eq!(told, (vec![(1, true), (2, false), (3, true)], vec![2]));
    // Numbers stay what they are; a run that is gone is in the way of no other one.
    let told = deleted_after(&three, &deletion("1,2,3", None), |other| {
        tag(other, "3", "a", "2");
        other.delete_run(2).expect("it can be written");
    });
    assert_eq!(told, (vec![(1, true), (2, false), (3, true)], vec![]));
    // The newest is gone: the one before is the newest now.
    let told = deleted_after(&three, &deletion("a=1", Some(1)), |other| {
        other.delete_run(3).expect("it can be written");
    });
    assert_eq!(told, (vec![(1, true), (2, false)], vec![2]));
    // A newer one is there: it is not what was listed.
    let told = deleted_after(&["a=1", "a=2"], &deletion("a=1", Some(1)), |other| {
        tag(other, "2", "a", "1");
    });
    assert_eq!(told, (vec![], vec![1, 2]));
}

/// Programs that tag and programs that delete, at once: each change is whole, and what stays is what
/// either order leaves.
#[test]
fn programs_that_tag_and_delete_at_once_do_not_lose_each_others_changes() {
    let tags: Vec<String> = (0..12).map(|run| format!("a={}", run % 3)).collect();
    let (folder, path) = database(&tags.iter().map(String::as_str).collect::<Vec<_>>());
    let mut programs = Vec::new();
    for group in ["0", "1", "2"] {
        let runs = format!("a={group}");
        let changed = format!("host={group}");
        programs.push(start(folder.path(), &["tag", &runs, &changed]));
        let delete = [
            "delete", "--where", &runs, "--keep", "1", "--per", "a", "--yes",
        ];
        programs.push(start(folder.path(), &delete));
    }
    for program in programs {
        let Output { status, stderr, .. } = program.wait_with_output().expect("it ends");
        assert!(status.success(), "{}", text(&stderr));
    }
    let database = Database::open_read_only(&path).expect("a database");
    assert_eq!(runs(&database), [10, 11, 12]);
    for (run, group) in [(10, "0"), (11, "1"), (12, "2")] {
        let head = database.run_head(run).expect("it is there");
        assert_eq!(
            head.to_string().split(", ").skip(2).collect::<Vec<_>>(),
            [format!("a={group}"), format!("host={group}")]
        );
    }
    assert_eq!(database.check().expect("it can be read"), []);
}

#[test]
fn what_is_only_read_is_not_tagged() {
    let (_folder, path) = database(&["a=1"]);
    let before = fs::read(&path).expect("it is there");
    let mut database = Database::open_read_only(&path).expect("a database");
    let change = TagChange {
        remove: vec!["a".to_owned()],
        ..TagChange::default()
    };
    let tagged = database.tag_runs(&set("1"), &change);
    match tagged {
        Err(ChooseError::Store(error @ StoreError::Sqlite { .. })) => {
            assert!(
                error
                    .to_string()
                    .ends_with("the database cannot be written"),
                "{error}"
            );
        }
        other => panic!("{other:?}"),
    }
    drop(database);
    assert!(fs::read(&path).expect("it is there") == before);
}

/// Choosing the wrong runs would delete them: every set against a list of what runs have.
#[test]
fn a_set_means_what_a_list_of_runs_says() {
    let mut tags = Vec::new();
    for a in ["", "1", "x, y"] {
        for b in ["1", "last 2"] {
            tags.push((a, b));
        }
    }
    let (folder, path) = database(&[]);
    for (a, b) in &tags {
        let (a, b) = (format!("a={a}"), format!("b={b}"));
        let arguments = ["import", "run.folded", "--again", "--tag", &a, "--tag", &b];
        let done = profdb(folder.path(), &arguments).output();
        assert!(done.expect("the program was built").status.success());
    }
    let database = Database::open_read_only(&path).expect("a database");
    let with = |a: Option<&str>, b: Option<&str>| -> Vec<i64> {
        let fits = |(_, tag): &(i64, &(&str, &str))| {
            a.is_none_or(|a| a == tag.0) && b.is_none_or(|b| b == tag.1)
        };
        (1..).zip(&tags).filter(fits).map(|(run, _)| run).collect()
    };
    for a in [None, Some(""), Some("1"), Some("x, y"), Some("2")] {
        for b in [None, Some("1"), Some("last 2"), Some("")] {
            for last in [None, Some(1), Some(2), Some(9)] {
                let tag = |key: &str, value: Option<&str>| {
                    value.map(|value| Tag {
                        key: key.to_owned(),
                        value: value.to_owned(),
                    })
                };
                let set = RunSet::Tagged {
                    tags: tag("a", a).into_iter().chain(tag("b", b)).collect(),
                    last,
                };
                let mut expected = with(a, b);
                let dropped = last.map_or(0, |last| expected.len().saturating_sub(last));
                expected.drain(..dropped);
                let found = match database.choose(&set) {
                    Ok(runs) => runs,
                    Err(ChooseError::NoRuns(_)) => Vec::new(),
                    Err(ChooseError::Store(error)) => panic!("{error}"),
                };
                assert_eq!(found, expected, "{set}");
                if let Ok((run, several)) = database.choose_one(&set) {
                    assert_eq!(
                        (Some(&run.run_id), several),
                        (expected.last(), expected.len()),
                        "{set}"
                    );
                }
            }
        }
    }
}

/// `-` is a statement from standard input, and what is too long or no text is refused.
/// Of commits that begin alike, the only one that is hexadecimal throughout is meant.
#[test]
fn the_start_of_a_commit_means_the_one_without_an_addition() {
    let (_folder, path) = database(&[
        "commit=bbbbbbb1111",
        "commit=bbbbbbb1111-dirty",
        "commit=bbbbbbb2222-dirty",
        "commit=ccccccc1-dirty",
        "commit=ccccccc1-new",
        "commit=ddddddd1",
        "commit=ddddddd2",
        "commit=ddddddd2-dirty",
    ]);
    let database = Database::open(&path).expect("a database");
    for (asked, expected) in [
        ("commit=bbbbbbb", Ok(1)),
        ("bbbbbbb", Ok(1)),
        ("commit=bbbbbbb1111", Ok(1)),
        ("commit=bbbbbbb1111-dirty", Ok(2)),
        ("commit=bbbbbbb2", Ok(3)),
        ("commit=ddddddd2", Ok(7)),
        (
            "commit=ccccccc",
            Err("matches 2 commits: ccccccc1-dirty, ccccccc1-new"),
        ),
        (
            "commit=ddddddd",
            Err("matches 3 commits: ddddddd1, ddddddd2, ddddddd2-dirty"),
        ),
    ] {
        let found = database.choose(&set(asked));
        match (found, expected) {
            (Ok(runs), Ok(run)) => assert_eq!(runs, [run], "{asked}"),
            (Err(error), Err(said)) => assert!(error.to_string().ends_with(said), "{error}"),
            (found, expected) => panic!("{asked}: {found:?} for {expected:?}"),
        }
    }
}

#[test]
fn sql_reads_a_statement_from_standard_input() {
    let (folder, _) = database(&["n=1"]);
    let ask = |statement: &[u8]| {
        let file = folder.path().join("question.sql");
        fs::write(&file, statement).expect("room for a small file");
        let input = fs::File::open(file).expect("it is there");
        let mut command = profdb(folder.path(), &["sql", "-", "--format", "csv"]);
        let output = command
            .stdin(input)
            .output()
            .expect("the program was built");
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, answer, said) =
        ask(b"SELECT run_id, 'two\nlines' AS text\n  FROM runs -- the only one\n");
    assert_eq!(
        (code, answer.as_str()),
        (Some(0), "\"run_id\",\"text\"\n1,\"two\nlines\"\n"),
        "{said}"
    );
    let (code, _, said) = ask(&vec![b' '; 1_000_001]);
    assert_eq!(code, Some(3));
    assert!(said.contains("more than 1000000 bytes"), "{said}");
    let (code, _, said) = ask(b"SELECT '\xff'");
    assert_eq!(code, Some(3));
    assert!(said.starts_with("profdb: standard input: "), "{said}");
    let (code, _, said) = ask(b"");
    assert_eq!(code, Some(2), "{said}");
}

/// A command line that makes no sense is none where nobody reads why.
#[cfg(unix)]
#[test]
fn a_wrong_command_line_ends_with_2_whoever_reads() {
    let (folder, _) = database(&["n=1"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = profdb(folder.path(), &["gate", "1"]);
    let status = command
        .stderr(writer)
        .status()
        .expect("the program was built");
    assert_eq!(status.code(), Some(2));
}
