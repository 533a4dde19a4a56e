//! Files that are asked about without a database: a long one goes into a temporary file, of which
//! nothing is left, however the program ends, and which no other user can open.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::faults::{calls, csv, entries, profdb, text, with_fault};
use crate::support::long;

/// A folder for temporary files, and beside it a profile that does not stay in memory.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir(place.temporary()).expect("a folder");
        fs::write(place.0.path().join("p.csv"), csv(2500, 40)).expect("space on the disk");
        place
    }

    fn temporary(&self) -> std::path::PathBuf {
        self.0.path().join("tmp")
    }

    fn command(&self, arguments: &[&str], temporary: &Path) -> Command {
        let mut command = profdb(self.0.path(), arguments);
        command.env("TMPDIR", temporary);
        command
    }

    /// Something happens at a call about a temporary file. Returns what the program does, and the
    /// calls.
    fn run(&self, at: usize, what: &str) -> (Output, Vec<(String, String)>) {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut command = self.command(&["report", "p.csv", "--first", "3"], &self.temporary());
        with_fault(&mut command, &self.temporary(), log.path(), at, what);
        let done = command.output().expect("the program is there");
        (done, calls(log.path()))
    }
}

/// What the system may do to the calls.
const FAULTS: [&str; 9] = ["28", "28+", "5", "13", "30", "24", "4", "short", "int"];

#[test]
fn nothing_is_left_of_a_temporary_file() {
    let place = Place::new();
    let (done, all) = place.run(0, "");
    assert!(done.status.success(), "{done:?}");
    let is_made = |(call, _): &(String, String)| call == "create" || call == "link";
    assert!(all.iter().any(is_made), "no temporary file: {all:?}");
    let answer = done.stdout;
    // The long form tries every fault at every call.
    let step = if long::is_long() { 1 } else { 2 };
    for (at, (call, file)) in (1..).zip(&all) {
        for fault in FAULTS.into_iter().skip(at % step).step_by(step) {
            let (done, _) = place.run(at, fault);
            let about = format!("{call} {file}, {at}: {fault}: {}", text(&done.stderr));
            assert_eq!(entries(&place.temporary()), [].into(), "{about}");
            match done.status.code() {
                Some(0) => assert!(done.stdout == answer, "{about}"),
                Some(5) => {
                    assert!(!["4", "short", "int"].contains(&fault), "{about}");
                    assert!(
                        text(&done.stderr).contains("set TMPDIR to another directory"),
                        "{about}"
                    );
                }
                code => {
                    assert!(fault == "int", "{about}");
                    // The signal may come before it is heeded.
                    assert!(
                        code == Some(130) || done.status.signal() == Some(2),
                        "{about}"
                    );
                }
            }
        }
    }
}

/// A program that is killed between the moment at which its file has a name and that at which it has
/// none leaves an empty file, and nothing else.
#[test]
fn a_killed_program_leaves_no_byte() {
    let place = Place::new();
    let (_, all) = place.run(0, "");
    for at in 1..=all.len() {
        let (done, _) = place.run(at, "kill");
        assert_eq!(done.status.signal(), Some(9), "{at}: {done:?}");
        for left in entries(&place.temporary()) {
            let left = place.temporary().join(left);
            let about = fs::metadata(&left).expect("it is there");
            assert_eq!(about.len(), 0, "{at}: {}", left.display());
            fs::remove_file(&left).expect("it is ours");
        }
    }
}

/// At each moment, what is in the folder can be opened by its owner alone.
#[test]
fn no_other_user_can_open_a_temporary_file() {
    let place = Place::new();
    let (_, all) = place.run(0, "");
    let seen = place.0.path().join("seen");
    for at in 1..=all.len() {
        let mut command = place.command(&["report", "p.csv"], &place.temporary());
        let log = tempfile::NamedTempFile::new().expect("a file");
        with_fault(&mut command, &place.temporary(), log.path(), at, "run");
        let script = format!("stat -c %a tmp/.??* >> {} 2>/dev/null || :", seen.display());
        command.env("FAULT_RUN", script);
        let done = command.output().expect("the program is there");
        assert!(done.status.success(), "{at}: {done:?}");
    }
    let seen = fs::read_to_string(&seen).expect("a shell has written it");
    assert!(
        !seen.is_empty() && seen.lines().all(|mode| mode == "600"),
        "{seen}"
    );
}

/// A short profile needs no folder; a long one says which folder it needs.
#[test]
fn without_a_folder_short_files_are_answered_and_long_ones_refused() {
    let place = Place::new();
    fs::write(place.0.path().join("short.csv"), csv(20, 4)).expect("space on the disk");
    let nowhere = place.0.path().join("nowhere");
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments, &nowhere);
        command.output().expect("the program is there")
    };
    for short in [
        &["report", "short.csv"][..],
        &["convert", "short.csv", "--to", "folded"],
    ] {
        assert!(run(short).status.success(), "{short:?}");
    }
    for long in [
        &["report", "p.csv"][..],
        &["report", "show", "p.csv"],
        &["convert", "p.csv", "--to", "folded"],
    ] {
        let done = run(long);
        assert_eq!(done.status.code(), Some(5), "{long:?}: {done:?}");
        let expected = format!(
            "profdb: {}: No such file or directory; set TMPDIR to another directory for temporary files\n",
            nowhere.display()
        );
        assert_eq!(text(&done.stderr), expected, "{long:?}");
    }
}

/// A folder for temporary files may be a link, and standard input is a file like any other.
#[test]
fn standard_input_goes_there_too() {
    let place = Place::new();
    let link = place.0.path().join("link");
    std::os::unix::fs::symlink(place.temporary(), &link).expect("a link");
    let input = fs::File::open(place.0.path().join("p.csv")).expect("it is there");
    let mut command = place.command(&["report", "-", "--first", "3"], &link);
    let done = command
        .stdin(Stdio::from(input))
        .output()
        .expect("the program is there");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(text(&done.stdout), text(&place.run(0, "").0.stdout));
    assert_eq!(entries(&place.temporary()), [].into());
}
