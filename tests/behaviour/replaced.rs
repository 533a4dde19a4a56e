//! Databases that somebody replaces, moves or writes over while they are changed, and logs that
//! another database has left: what is said to be stored is in the file that has the name, and no
//! file gets what is another's.
//!
//! `REPLACEMENTS=200 SEED=1 cargo test --test behaviour replaced::` replaces as many under an
//! import, and the others at every call.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

use rusqlite::Connection;

use crate::support::faults::{
    DATABASE, Numbers, OutcomeCounter, State, Story, calls, check, content, copy, csv, entries,
    import, profdb, profiles, same, setting, text, with_fault,
};
use crate::support::long;

/// How often a database is replaced where nobody says how often.
const FEW_REPLACEMENTS: u64 = 12;

/// Calls of other commands at which something happens where nobody says more.
const FEW_CALLS: usize = 4;

/// Calls of a command, counted from 1: all of them, or a few and the last.
fn some_of(calls: usize) -> Vec<usize> {
    let step = if long::is_long() {
        1
    } else {
        calls.div_ceil(FEW_CALLS)
    };
    (1..=calls).rev().step_by(step.max(1)).collect()
}

/// What a shell does to a database `x.db` while it is changed. `$OTHER` is another database.
#[derive(Clone, Copy, Debug)]
struct Way {
    what: &'static str,
    script: &'static str,
    /// What is there afterwards.
    left: Left,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Other,
    Nothing,
    /// The other database, in the same file: that can be seen as long as the change has not been
    /// written.
    Within,
}

const WAYS: [Way; 8] = [
    Way {
        what: "a rename over it",
        script: "cp $OTHER new; mv new x.db",
        left: Left::Other,
    },
    Way {
        what: "unlink",
        script: "rm -f x.db",
        left: Left::Nothing,
    },
    Way {
        what: "unlink and a copy",
        script: "rm -f x.db; cp $OTHER x.db",
        left: Left::Other,
    },
    Way {
        what: "a restored backup without logs",
        script: "cp $OTHER new; rm -f x.db-*; mv new x.db",
        left: Left::Other,
    },
    Way {
        what: "a rename away",
        script: "mv x.db gone.db",
        left: Left::Nothing,
    },
    Way {
        what: "an exchange",
        script: "cp $OTHER new; mv x.db gone.db; mv new x.db",
        left: Left::Other,
    },
    Way {
        what: "a symbolic link",
        script: "mkdir o; cp $OTHER o/o.db; ln -s o/o.db n; mv -T n x.db",
        left: Left::Other,
    },
    Way {
        what: "a copy over it",
        script: "cp $OTHER x.db",
        left: Left::Within,
    },
];

/// Another database, with a run of its own.
fn other() -> (tempfile::TempDir, PathBuf, BTreeMap<String, Vec<String>>) {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = folder.path().join("other.csv");
    fs::write(&profile, csv(2000, 33)).expect("space on the disk");
    import(folder.path(), &profile);
    let path = folder.path().join(DATABASE);
    let content = content(&path, i64::MAX);
    (folder, path, content)
}

/// The calls of one command that lets something happen at one of them. Standard output goes to the
/// file `out`.
fn replaced(
    folder: &Path,
    arguments: &[&str],
    at: usize,
    script: &str,
    other: &Path,
) -> (Output, bool) {
    let outside = tempfile::tempdir().expect("a folder");
    let (out, late) = (outside.path().join("out"), outside.path().join("late"));
    let mut command = profdb(folder, arguments);
    with_fault(&mut command, folder, "/dev/null".as_ref(), at, "run");
    let script = format!(
        "set -e; {script}; if [ -s '{}' ]; then touch '{}'; fi",
        out.display(),
        late.display()
    );
    command.env("FAULT_RUN", script).env("OTHER", other);
    command.stdout(fs::File::create(&out).expect("space on the disk"));
    let done = command.output().expect("the program is there");
    (done, late.exists())
}

#[test]
fn under_an_import() {
    let (number, seed) = (
        long::repetitions("REPLACEMENTS", FEW_REPLACEMENTS, 200),
        setting("SEED").unwrap_or(1),
    );
    let states = [
        State::Runs,
        State::Log,
        State::LogLeft,
        State::JournalLeft,
        State::JournalKept,
        State::Empty,
        State::OtherView,
    ];
    let (_other, other_path, other_content) = other();
    let mut numbers = Numbers(seed.wrapping_mul(1_000_003));
    let mut tried = 0;
    let outcomes = OutcomeCounter::default();
    for at in 0.. {
        if tried == number {
            break;
        }
        let state = states[numbers.below(states.len())];
        let profiles = profiles();
        let kind = if numbers.below(2) == 0 {
            &profiles.long
        } else {
            &profiles.short
        };
        let story = Story::of(state, &kind[numbers.below(kind.len())]);
        let way = WAYS[at % WAYS.len()];
        let is_log = matches!(state, State::Log | State::LogLeft);
        // From the moment that SQLite writes to the file, a copy over it makes it neither; with a
        // log, at any moment.
        let is_change = |(call, file): &(String, String)| call == "write" && file.ends_with("x.db");
        let first_change = story
            .calls
            .iter()
            .position(is_change)
            .unwrap_or(story.calls.len());
        let calls = if way.left == Left::Within {
            first_change
        } else {
            story.calls.len()
        };
        // Nor is it ours to say what becomes of a log that is rolled back or brought in while the
        // file is replaced.
        let is_left = matches!(
            state,
            State::LogLeft | State::JournalLeft | State::OtherView | State::Empty
        );
        if calls == 0 || !story.is_new() || way.left == Left::Within && (is_log || is_left) {
            continue;
        }
        tried += 1;
        let call = numbers.below(calls) + 1;
        let about = format!(
            "SEED={seed}, {at}, {state:?}, {}, {} at {call} {:?}",
            story.profile.display(),
            way.what,
            story.calls[call - 1]
        );
        let folder = story.folder();
        let kept =
            tempfile::tempdir_in(folder.path().parent().expect("it has one")).expect("a folder");
        fs::hard_link(folder.path().join(DATABASE), kept.path().join(DATABASE))
            .expect("a file system with links");
        let profile = story.profile.to_str().expect("plain names");
        let (done, is_late) = replaced(
            folder.path(),
            &["import", "--db", DATABASE, profile],
            call,
            way.script,
            &other_path,
        );
        let said = text(&done.stderr);
        match done.status.code() {
            // The run was reported as stored before.
            Some(0) if is_late => {}
            // The database was replaced before the import opened it.
            Some(0) => {
                let sql = format!(
                    "SELECT COUNT(*) FROM runs WHERE source_name = '{}'",
                    story.profile.file_name().expect("one").display()
                );
                let database = Connection::open(folder.path().join(DATABASE)).expect("it is there");
                let runs: i64 = database.query_row(&sql, [], |row| row.get(0)).unwrap_or(0);
                assert!(runs > 0, "{about}: it is said to be there: {said}");
            }
            Some(5) => {
                let line = said.lines().last().unwrap_or_default();
                assert!(line.starts_with("profdb: x.db: "), "{about}: {said}");
                assert!(!said.contains("panic"), "{about}: {said}");
            }
            _ => panic!("{about}: {done:?}"),
        }
        outcomes.add(match done.status.code() {
            Some(0) if is_late => "stored before the replacement",
            Some(0) => "stored in the replacement",
            _ => "refused",
        });
        if done.status.code() == Some(5) {
            let path = folder.path().join(DATABASE);
            match way.left {
                Left::Nothing => assert!(!path.exists(), "{about}: {:?}", entries(folder.path())),
                Left::Other | Left::Within => {
                    check(folder.path(), &about);
                    same(&content(&path, i64::MAX), &other_content, &about);
                }
            }
        }
        let ours = |name: &String| name.starts_with(".x.db.");
        assert!(
            !entries(folder.path()).iter().any(ours),
            "{about}: {:?}",
            entries(folder.path())
        );
    }
    outcomes.print("replacements");
}

/// The folder of a database goes elsewhere while it is made or changed.
#[test]
fn a_folder_that_is_renamed() {
    for state in [State::New, State::Runs] {
        let story = Story::of(state, &profiles().long[0]);
        for call in some_of(story.calls.len()) {
            let above = tempfile::tempdir().expect("a folder");
            let folder = above.path().join("here");
            fs::create_dir(&folder).expect("a folder");
            copy(story.folder().path(), &folder);
            let profile = story.profile.to_str().expect("plain names");
            // The name that is given leads by the folder above, which the program is started in.
            let script = format!(
                "mv '{}' '{}'",
                folder.display(),
                above.path().join("there").display()
            );
            let outside = tempfile::tempdir().expect("a folder");
            let out = outside.path().join("out");
            let mut command = profdb(above.path(), &["import", "--db", "here/x.db", profile]);
            with_fault(&mut command, &folder, "/dev/null".as_ref(), call, "run");
            command.env(
                "FAULT_RUN",
                format!("{script}; test ! -s '{}'", out.display()),
            );
            command.stdout(fs::File::create(&out).expect("space on the disk"));
            let done = command.output().expect("the program is there");
            let about = format!(
                "{state:?}, {call} {:?}: {}",
                story.calls[call - 1],
                text(&done.stderr)
            );
            assert_eq!(done.status.code(), Some(5), "{about}");
            let there = above.path().join("there");
            let is_ours = |name: &String| name.starts_with('.');
            assert!(
                !entries(&there).iter().any(is_ours),
                "{about}: {:?}",
                entries(&there)
            );
        }
    }
}

/// Commands that change a database, also by replacing its views, report success only for the file that is there.
#[test]
fn under_other_changes() {
    let (_other, other_path, other_content) = other();
    let commands: [(State, &[&str]); 4] = [
        (State::Runs, &["delete", "--db", DATABASE, "2"]),
        (State::Runs, &["merge", DATABASE, "from.db"]),
        (State::Runs, &["compact", "--db", DATABASE]),
        (State::OtherView, &["runs", "--db", DATABASE]),
    ];
    for (state, arguments) in commands {
        let story = Story::of(state, &profiles().short[0]);
        let set_up = || {
            let folder = story.folder();
            fs::copy(&other_path, folder.path().join("from.db")).expect("space on the disk");
            folder
        };
        let folder = set_up();
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut command = profdb(folder.path(), arguments);
        with_fault(&mut command, folder.path(), log.path(), 0, "");
        assert!(
            command
                .output()
                .expect("the program is there")
                .status
                .success(),
            "{arguments:?}"
        );
        let called = calls(log.path());
        let mut refused = 0;
        for way in [WAYS[0], WAYS[1]] {
            for call in some_of(called.len()) {
                let folder = set_up();
                let about = format!(
                    "{arguments:?}, {} at {call} {:?}",
                    way.what,
                    called[call - 1]
                );
                let (done, is_late) =
                    replaced(folder.path(), arguments, call, way.script, &other_path);
                let code = done.status.code();
                let path = folder.path().join(DATABASE);
                // Before the file is opened, it is the other one that is changed, or there is none.
                let is_first = called[..call]
                    .iter()
                    .all(|(call, file)| call == "open" || !file.contains(DATABASE));
                // Who only reads goes on with what is there when the file is up to date.
                let is_read = arguments[0] == "runs"
                    && called[call - 1..].iter().all(|(call, _)| call == "open");
                assert!(
                    code == Some(5) || is_late || is_first || is_read,
                    "{about}: {done:?}"
                );
                refused += usize::from(code == Some(5));
                if code == Some(5) && way.left == Left::Other {
                    check(folder.path(), &about);
                    same(&content(&path, i64::MAX), &other_content, &about);
                }
            }
        }
        assert!(refused > 2, "{arguments:?}: {called:?}");
    }
}

/// A log by name, and where it comes from.
fn logs() -> Vec<(&'static str, Vec<u8>)> {
    let read = |state, name: &str| {
        let story = Story::of(state, &profiles().short[0]);
        fs::read(story.folder().path().join(name)).expect("it is there")
    };
    let (journal, log) = (
        read(State::JournalLeft, "x.db-journal"),
        read(State::LogLeft, "x.db-wal"),
    );
    assert!(journal[16..20] != [0; 4] && log.len() > 4096);
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    vec![
        ("x.db-journal", half(&journal)),
        ("x.db-journal", journal),
        ("x.db-journal", b"a text of somebody's".to_vec()),
        ("x.db-journal", b"short".to_vec()),
        ("x.db-wal", half(&log)),
        ("x.db-wal", log),
        ("x.db-wal", Vec::new()),
        ("x.db-shm", vec![1; 32768]),
        ("x.db-shm", Vec::new()),
    ]
}

/// What SQLite would take for the log of a new database is refused by name, and stays as it is.
#[test]
fn leftover_logs_are_refused_by_name() {
    let (_other, other_path, _) = other();
    let profile = profiles().long[1].to_str().expect("plain names");
    let from = other_path.to_str().expect("plain names");
    let commands: [(&[&str], bool); 7] = [
        (&["import", "--db", DATABASE, profile], true),
        (&["merge", DATABASE, from], true),
        // These make a database of a file without a byte only.
        (&["runs", "--db", DATABASE], false),
        (&["check", "--db", DATABASE], false),
        (&["report", "--db", DATABASE], false),
        (&["delete", "--db", DATABASE, "1"], false),
        (&["compact", "--db", DATABASE], false),
    ];
    for (arguments, makes_files) in commands {
        for is_empty in [false, true] {
            if !is_empty && !makes_files {
                continue;
            }
            for (name, bytes) in logs() {
                let folder = tempfile::tempdir().expect("a folder");
                if is_empty {
                    fs::write(folder.path().join(DATABASE), b"").expect("space on the disk");
                }
                fs::write(folder.path().join(name), &bytes).expect("space on the disk");
                let there = entries(folder.path());
                let done = profdb(folder.path(), arguments)
                    .output()
                    .expect("the program is there");
                let about = format!(
                    "{arguments:?}, empty: {is_empty}, {name}, {} bytes: {done:?}",
                    bytes.len()
                );
                assert_eq!(done.status.code(), Some(5), "{about}");
                let line = format!("profdb: x.db: {name} was left by another database");
                assert!(text(&done.stderr).starts_with(&line), "{about}");
                assert_eq!(entries(folder.path()), there, "{about}");
                assert!(
                    fs::read(folder.path().join(name)).expect("it is there") == bytes,
                    "{about}"
                );
                fs::remove_file(folder.path().join(name)).expect("it is there");
                if makes_files {
                    assert!(
                        profdb(folder.path(), arguments)
                            .output()
                            .expect("it is there")
                            .status
                            .success(),
                        "{about}"
                    );
                    check(folder.path(), &about);
                }
            }
        }
    }
}

/// So are a symbolic link and a folder of that name.
#[test]
fn leftover_names_need_not_be_files() {
    let profile = &profiles().short[0];
    for name in ["x.db-journal", "x.db-wal", "x.db-shm"] {
        let folder = tempfile::tempdir().expect("a folder");
        symlink("nowhere", folder.path().join(name)).expect("a file system with links");
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
        assert_eq!(
            command
                .arg(profile)
                .output()
                .expect("it is there")
                .status
                .code(),
            Some(5),
            "{name}"
        );
        assert_eq!(entries(folder.path()).len(), 1, "{name}");
        fs::remove_file(folder.path().join(name)).expect("it is there");
        fs::create_dir(folder.path().join(name)).expect("a folder");
        assert_eq!(
            command.output().expect("it is there").status.code(),
            Some(5),
            "{name}"
        );
        assert_eq!(entries(folder.path()).len(), 1, "{name}");
        // By a link, the file would be elsewhere, and so would its log.
        fs::remove_dir(folder.path().join(name)).expect("it is there");
        symlink("y.db", folder.path().join(DATABASE)).expect("a file system with links");
        fs::write(folder.path().join(name.replace("x.db", "y.db")), b"log")
            .expect("space on the disk");
        let done = command.output().expect("it is there");
        assert_eq!(done.status.code(), Some(5), "{name}");
        assert!(text(&done.stderr).contains("y.db-"), "{done:?}");
    }
}

/// They are looked at once more when the file has its name.
#[test]
fn logs_that_come_meanwhile_are_refused() {
    let (_other, other_path, _) = other();
    let profile = profiles().long[1].to_str().expect("plain names");
    let from = other_path.to_str().expect("plain names");
    let commands: [&[&str]; 2] = [
        &["import", "--db", DATABASE, profile],
        &["merge", DATABASE, from],
    ];
    for arguments in commands {
        let folder = tempfile::tempdir().expect("a folder");
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut command = profdb(folder.path(), arguments);
        with_fault(&mut command, folder.path(), log.path(), 0, "");
        assert!(
            command.output().expect("it is there").status.success(),
            "{arguments:?}"
        );
        let called = calls(log.path());
        let is_link = |(call, file): &(String, String)| call == "link" && file.ends_with("/x.db");
        let link = called.iter().position(is_link).expect("it gets its name");
        for name in ["x.db-journal", "x.db-wal", "x.db-shm"] {
            for call in some_of(link + 1) {
                let folder = tempfile::tempdir().expect("a folder");
                let script = format!("echo log > {name}");
                let (done, _) = replaced(folder.path(), arguments, call, &script, &other_path);
                let about = format!(
                    "{arguments:?}, {name} at {call} {:?}: {done:?}",
                    called[call - 1]
                );
                assert_eq!(done.status.code(), Some(5), "{about}");
                assert!(text(&done.stderr).contains(name), "{about}");
                assert_eq!(
                    entries(folder.path()).into_iter().collect::<Vec<_>>(),
                    [name],
                    "{about}"
                );
                assert_eq!(
                    fs::read(folder.path().join(name)).expect("it is there"),
                    b"log\n",
                    "{about}"
                );
            }
        }
    }
}
