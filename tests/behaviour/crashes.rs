//! Imports that are killed, interrupted, or let down by the system at any moment: the run is in the
//! database then or it is not, the others are as they were, and the next import works.
//! docs/reliability.md says what has been run.
//!
//! `KILLS=540 SEED=1 cargo test --test behaviour crashes::kills` kills as many, `INTERRUPTS=200`
//! interrupts as many, `LOSSES=500` cuts the power as often, and `LONG_TESTS=1 cargo test --test
//! behaviour crashes::calls_that_fail` lets each call fail.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests that measure, and small files of our own"
)]

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::disk::{Disk, Files};
use crate::support::faults::{
    DATABASE, Numbers, OutcomeCounter, State, Story, calls, entries, profdb, profiles, setting,
    text, with_fault,
};
use crate::support::long;
use crate::support::program::PROFDB;
use crate::support::tools;

/// How many imports are killed where nobody says how many.
const FEW_KILLS: u64 = 20;

/// How many are interrupted.
const FEW_INTERRUPTS: u64 = 10;

/// How often the power is cut.
const FEW_LOSSES: u64 = 20;

/// How many calls fail.
const FEW_FAULTS: usize = 20;

/// Imports of the same profile into the same database, of which each goes wrong at another place.
const PER_STORY: u64 = 4;

/// Names the outcome of a trial.
fn outcome(is_stored: bool) -> &'static str {
    if is_stored { "stored" } else { "not stored" }
}

/// A story by chance. Every third profile is a long one.
fn some_story(seed: u64, at: u64) -> Arc<Story> {
    let mut numbers = Numbers(seed.wrapping_mul(1_000_003).wrapping_add(at / PER_STORY));
    let profiles = profiles();
    loop {
        let state = State::ALL[numbers.below(State::ALL.len())];
        let kind = if numbers.below(3) == 0 {
            &profiles.long
        } else {
            &profiles.short
        };
        let story = Story::of(state, &kind[numbers.below(kind.len())]);
        if story.is_new() {
            return story;
        }
    }
}

/// Does something a number of times, on all processors.
fn times(number: u64, each: impl Fn(u64) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let worker = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed) as u64;
                if at >= number {
                    return;
                }
                each(at);
            }
        };
        let workers: Vec<_> = (0..thread::available_parallelism().map_or(1, usize::from))
            .map(|_| scope.spawn(worker))
            .collect();
        for worker in workers {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[test]
fn kills() {
    let (number, seed) = (
        long::repetitions("KILLS", FEW_KILLS, 200),
        setting("SEED").unwrap_or(1),
    );
    let outcomes = OutcomeCounter::default();
    times(number, |at| {
        let mut numbers = Numbers(seed.wrapping_mul(1_000_033).wrapping_add(at));
        let story = some_story(seed, at);
        let folder = story.folder();
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
        command
            .arg(&story.profile)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let about = format!(
            "SEED={seed}, kill {at}, {:?}, {}",
            story.state,
            story.profile.display()
        );
        let call = numbers.below(story.calls.len()) + 1;
        let what = ["kill", "torn"][numbers.below(2)];
        let about = format!("{about}, {what} {call} {:?}", story.calls[call - 1]);
        let log = "/dev/null".as_ref();
        with_fault(&mut command, folder.path(), log, call, what);
        let done = command.status().expect("the program is there");
        assert_eq!(done.signal(), Some(9), "{about}");
        outcomes.add(outcome(story.holds(folder.path(), &about)));
    });
    outcomes.print("kills");
}

/// The power is cut: what has not been synced is there in part, in any order.
#[test]
fn losses_of_power() {
    let (number, seed) = (
        long::repetitions("LOSSES", FEW_LOSSES, 200),
        setting("SEED").unwrap_or(1),
    );
    let outcomes = OutcomeCounter::default();
    times(number.div_ceil(PER_STORY), |of| {
        let story = some_story(seed, of * PER_STORY);
        let folder = story.folder();
        let disk = Disk::record(folder.path(), |log| {
            let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
            with_fault(&mut command, folder.path(), "/dev/null".as_ref(), 0, "");
            let done = command
                .arg(&story.profile)
                .env("FAULT_DISK", log)
                .output()
                .expect("the program is there");
            assert!(done.status.success(), "{done:?}");
        });
        // Nothing has escaped notice.
        assert_eq!(
            disk.after_all().by_name(),
            Files::of(folder.path()).by_name(),
            "{}",
            story.profile.display()
        );
        for at in 0..PER_STORY {
            let mut numbers = Numbers(
                seed.wrapping_mul(1_000_033)
                    .wrapping_add(of * PER_STORY + at),
            );
            // Once after the program has said that it is done.
            let after = if at == 0 {
                disk.len()
            } else {
                numbers.below(disk.len())
            };
            let about = format!(
                "SEED={seed}, loss {}, {:?}, {}, after {after} of {} changes",
                of * PER_STORY + at,
                story.state,
                story.profile.display(),
                disk.len()
            );
            let left = tempfile::tempdir().expect("a folder");
            disk.after_a_loss(after, &mut numbers).write(left.path());
            let is_there = story.holds(left.path(), &about);
            assert!(is_there || at > 0, "{about}: what has been stored is lost");
            outcomes.add(outcome(is_there));
        }
    });
    outcomes.print("losses of power");
}

/// Whoever only reads does nothing to the files of a folder but open them, as the system sees it.
#[test]
fn readers_change_nothing() {
    let story = Story::of(State::Runs, &profiles().short[0]);
    let commands: [&[&str]; 8] = [
        &["runs"],
        &["show"],
        &["report", "summary"],
        &["report", "tree"],
        &["report", "callees", "--fn", "*"],
        &["sql", "SELECT * FROM tree"],
        &["export", "--format", "folded"],
        &["check"],
    ];
    let folder = story.folder();
    for command in commands {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut reader = profdb(folder.path(), &[command, &["--db", DATABASE]].concat());
        with_fault(&mut reader, folder.path(), log.path(), 0, "");
        let done = reader.output().expect("the program is there");
        assert!(done.status.success(), "{command:?}: {done:?}");
        let called = calls(log.path());
        assert!(
            called.iter().any(|(_, file)| file.ends_with(DATABASE)),
            "{command:?}: {called:?}"
        );
        assert!(
            called.iter().all(|(call, _)| call == "open"),
            "{command:?}: {called:?}"
        );
    }
}

#[test]
fn interrupts() {
    let (number, seed) = (
        long::repetitions("INTERRUPTS", FEW_INTERRUPTS, 100),
        setting("SEED").unwrap_or(1),
    );
    let outcomes = OutcomeCounter::default();
    times(number, |at| {
        let mut numbers = Numbers(seed.wrapping_mul(1_000_033).wrapping_add(at));
        let story = some_story(seed, at);
        let folder = story.folder();
        let mut there = entries(folder.path());
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
        command
            .arg(&story.profile)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let about = format!(
            "SEED={seed}, interrupt {at}, {:?}, {}",
            story.state,
            story.profile.display()
        );
        let call = numbers.below(story.calls.len()) + 1;
        let what = ["int", "term"][numbers.below(2)];
        let about = format!("{about}, {what} {call}");
        let log = "/dev/null".as_ref();
        with_fault(&mut command, folder.path(), log, call, what);
        let done = command.output().expect("the program is there");
        // The signal may come before the program handles it, or after all is done.
        let code = done
            .status
            .code()
            .or(done.status.signal().map(|signal| -signal));
        assert!(matches!(code, Some(0 | 130 | -2)), "{about}: {done:?}");
        there.insert(DATABASE.to_owned());
        if matches!(story.state, State::Log | State::LogLeft) {
            // Whoever reads a database with a log has to leave these.
            there.extend(["x.db-wal", "x.db-shm"].map(str::to_owned));
        }
        let left: Vec<_> = entries(folder.path()).difference(&there).cloned().collect();
        assert!(
            left.is_empty() || code == Some(-2),
            "{about}: {left:?} is left"
        );
        let is_there = story.holds(folder.path(), &about);
        assert_eq!(is_there, code == Some(0), "{about}: {done:?}");
        outcomes.add(outcome(is_there));
    });
    outcomes.print("interrupts");
}

/// What may happen to a call, as the shim knows it.
fn faults(call: &str) -> &'static [&'static str] {
    // ENOSPC, EIO, EINTR, EACCES, EROFS, EMFILE, EPERM.
    match call {
        "write" => &["28", "28+", "5", "short", "4"],
        "sync" => &["5", "28"],
        "truncate" => &["5", "28", "4"],
        "create" => &["28", "28+", "5", "13", "30", "24", "4"],
        "open" => &["5", "13", "24", "4"],
        "rename" | "link" => &["28", "5", "13", "30", "1"],
        "unlink" => &["5", "13", "30"],
        _ => panic!("no faults for {call}"),
    }
}

/// What the system may do at any time, so that nobody may notice.
const HARMLESS: [&str; 2] = ["short", "4"];

#[test]
fn calls_that_fail() {
    let is_all = long::is_long();
    let mut planned = Vec::new();
    for state in State::ALL {
        let long = &profiles().long[0];
        let short = &profiles().short[4];
        for (profile, is_long) in [(short, false), (long, true)] {
            if !is_all && !matches!(state, State::New | State::Runs) {
                continue;
            }
            let story = Story::of(state, profile);
            assert!(story.is_new());
            for (at, (call, _)) in (1..).zip(&story.calls) {
                let faults = faults(call);
                // Each call of each import fails in some way; those of two short ones in every way.
                let is_whole = !is_long && matches!(state, State::New | State::Runs);
                let chosen = if is_whole {
                    faults
                } else {
                    &faults[at % faults.len()..=at % faults.len()]
                };
                planned.extend(chosen.iter().map(|fault| (Arc::clone(&story), at, *fault)));
            }
        }
    }
    if !is_all {
        let mut numbers = Numbers(setting("SEED").unwrap_or(1));
        let all = planned.len();
        planned = (0..FEW_FAULTS)
            .map(|_| planned[numbers.below(all)].clone())
            .collect();
    }
    let outcomes = OutcomeCounter::default();
    times(planned.len() as u64, |number| {
        let (story, at, fault) = &planned[usize::try_from(number).expect("few")];
        let folder = story.folder();
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
        with_fault(
            command.arg(&story.profile),
            folder.path(),
            log.path(),
            *at,
            fault,
        );
        let done = command.output().expect("the program is there");
        // The two threads do not take turns in the same way each time.
        let called = calls(log.path());
        let about = format!(
            "{:?}, {}, call {at} {:?}: {fault}",
            story.state,
            story.profile.display(),
            called.get(at - 1)
        );
        let message = text(&done.stderr);
        match done.status.code() {
            Some(0) => {}
            Some(5) => {
                assert!(!HARMLESS.contains(fault), "{about}: {message}");
                let line = message.lines().last().unwrap_or_default();
                assert!(line.starts_with("profdb: x.db: "), "{about}: {message}");
                assert!(
                    !line.contains("no such") && !message.contains("panic"),
                    "{about}: {message}"
                );
            }
            _ => panic!("{about}: {done:?}"),
        }
        let is_there = story.holds(folder.path(), &about);
        assert!(
            is_there || !done.status.success(),
            "{about}: it is said to be there"
        );
        outcomes.add(match (done.status.success(), is_there) {
            (true, _) => "stored",
            (false, true) => "error, but stored",
            (false, false) => "error, not stored",
        });
    });
    outcomes.print("failing calls");
}

/// Runs commands in a file system that is small or read-only, or skips the test.
fn in_a_mount(mount: &str, commands: &str) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let name_space = |script: &str| {
        let mut command = tools::namespace(script);
        command.current_dir(folder.path());
        command
            .env("LONG", &profiles().long[1])
            .env("SHORT", &profiles().short[0])
            .env_remove("PROFDB_DB");
        command.output().expect("util-linux is there")
    };
    std::fs::create_dir(folder.path().join("m")).expect("a folder that can be written");
    if !name_space(mount).status.success() {
        tools::skip_unsupported("mounts in a user namespace");
    }
    name_space(&format!("{mount}; {commands}"))
}

#[test]
fn a_disk_that_is_full_is_no_loss() {
    // The empty tables alone take 220 KiB.
    for (size, there) in [(100, 0), (220, 0), (280, 1), (340, 1), (400, 1)] {
        let mount = format!("mount -t tmpfs -o size={size}k tmpfs m; cd m");
        let commands = "if \"$0\" import --db x.db \"$SHORT\" >&2; then n=1; else n=0; fi; echo $n
                        code=0; \"$0\" import --db x.db \"$LONG\" >&2 || code=$?; ls; echo $code
                        if [ $n = 1 ]; then \"$0\" check --db x.db; \"$0\" sql --db x.db 'SELECT COUNT(*) FROM runs'; fi";
        let done = in_a_mount(&mount, commands);
        let (said, told) = (text(&done.stdout), text(&done.stderr));
        assert!(done.status.success(), "{size}: {said}{told}");
        assert!(
            told.contains("x.db: the disk is full"),
            "{size}: {said}{told}"
        );
        let expected = if there == 0 {
            "0\n5\n".to_owned()
        } else {
            let sound = "x.db: no errors found by 19 checks";
            format!("1\nx.db\n5\n{sound}\nCOUNT(*)\n       1\n")
        };
        assert_eq!(said, expected, "{size}: {told}");
    }
}

/// The memory that goes with a log is a file, too, which has to grow.
#[test]
fn a_disk_that_is_full_is_called_so_with_a_log() {
    let mount = "mount -t tmpfs -o size=600k tmpfs m; cd m";
    let commands = "\"$0\" import --db x.db \"$SHORT\" >&2; cp x.db y.db
                    printf '\\002\\002' | dd of=x.db bs=1 seek=18 conv=notrunc 2>/dev/null
                    cat /dev/zero > fill 2>/dev/null || :
                    code=0; \"$0\" import --db x.db \"$LONG\" 2>&1 || code=$?; echo $code
                    rm fill y.db; \"$0\" check --db x.db; ls --ignore='*-wal' --ignore='*-shm'";
    let done = in_a_mount(mount, commands);
    let expected = "profdb: x.db: the disk is full\n5\nx.db: no errors found by 19 checks\nx.db\n";
    assert_eq!(text(&done.stdout), expected, "{}", text(&done.stderr));
}

/// A limit of the system is called by its name, and not taken for something that the database
/// needs.
#[test]
fn too_few_open_files_are_called_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = &profiles().short[0];
    let limited = |limit: u32, command: &str| {
        let script = format!("ulimit -n {limit}; exec \"$0\" {command}");
        let mut shell = tools::shell();
        shell
            .args(["-c", &script, PROFDB])
            .arg(profile)
            .current_dir(folder.path());
        shell.env_remove("PROFDB_DB").output().expect("a shell")
    };
    assert!(limited(100, "import --db x.db \"$@\"").status.success());
    let mut refused = 0;
    for limit in 5..16 {
        for command in [
            "import --again --db x.db \"$@\"",
            "runs --db x.db",
            "delete --db x.db 1000",
            "import --db new.db \"$@\"",
            "merge new.db x.db",
            "report summary \"$@\"",
            "convert --to folded \"$@\"",
            "import --again --db x.db .",
        ] {
            let done = limited(limit, command);
            let said = text(&done.stderr);
            let few = format!(": the limit of {limit} open files is too low (`ulimit -n`)");
            match done.status.code() {
                Some(0 | 4) => {}
                // There are no profiles in the folder.
                Some(3) if command.ends_with(" .") => {
                    assert!(!said.contains("Too many"), "{limit}, {command}: {said}");
                }
                // The profile cannot be opened either, or the folder.
                Some(5) => {
                    refused += 1;
                    assert!(
                        said.contains(&few) || said.contains("Too many open files"),
                        "{limit}, {command}: {said}"
                    );
                }
                _ => panic!("{limit}, {command}: {done:?}"),
            }
            let _ = std::fs::remove_file(folder.path().join("new.db"));
            assert_eq!(
                entries(folder.path()).into_iter().collect::<Vec<_>>(),
                [DATABASE],
                "{limit}, {command}"
            );
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn a_disk_that_cannot_be_written_is_left_alone() {
    let mount = "cp \"$LONG\" m; cd m; \"$0\" import --db x.db \"$SHORT\" >&2; cd ..; mount --bind m m; mount -o remount,ro,bind m; cd m";
    let commands = "\"$0\" sql --db x.db 'SELECT COUNT(*) FROM runs'
                    for db in x.db new.db; do code=0; \"$0\" import --db $db \"$LONG\" 2>&1 || code=$?; echo $code; done
                    code=0; \"$0\" merge new.db x.db 2>&1 || code=$?; echo $code; ls";
    let done = in_a_mount(mount, commands);
    let expected = "COUNT(*)\n       1\nprofdb: x.db: the database cannot be written: the file system is read-only\n5\n\
                    profdb: new.db: Read-only file system\n5\n\
                    profdb: new.db: Read-only file system\n5\nb.csv\nx.db\n";
    assert_eq!(text(&done.stdout), expected, "{}", text(&done.stderr));
}

/// What is written to a file is there as a whole, or what was there before.
#[test]
fn reports_and_exports_that_fail_leave_the_old_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = profiles().short[0].to_str().expect("plain names");
    let commands: [&[&str]; 2] = [
        &["report", "summary", "--outfile", "o", profile],
        &["convert", profile, "--to", "callgrind", "-o", "o"],
    ];
    for arguments in commands {
        let run = |at, what: &str| {
            std::fs::write(folder.path().join("o"), "old").expect("space on the disk");
            let log = tempfile::NamedTempFile::new().expect("a file");
            let mut command = profdb(folder.path(), arguments);
            with_fault(&mut command, folder.path(), log.path(), at, what);
            let done = command.output().expect("the program is there");
            (
                done,
                std::fs::read(folder.path().join("o")).expect("it is there"),
                calls(log.path()),
            )
        };
        let (done, new, all) = run(0, "");
        assert!(
            done.status.success() && new != b"old",
            "{arguments:?}: {}",
            text(&done.stderr)
        );
        for (at, (call, _)) in (1..).zip(&all) {
            for fault in faults(call) {
                let (done, found, _) = run(at, fault);
                let about = format!(
                    "{arguments:?}, {call} {at}: {fault}, {}",
                    text(&done.stderr)
                );
                let code = done.status.code();
                assert!(
                    code == Some(0) || code == Some(1) && !HARMLESS.contains(fault),
                    "{about}"
                );
                assert!(
                    found
                        == if code == Some(0) {
                            new.as_slice()
                        } else {
                            b"old"
                        },
                    "{about}"
                );
                assert_eq!(entries(folder.path()).len(), 1, "{about}");
            }
        }
    }
}
