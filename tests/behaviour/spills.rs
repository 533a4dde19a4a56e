//! Rows that come late wait on disk when there are many (docs/design/measured-choices.md). What
//! goes wrong with the files that they wait in is said, and leaves nothing: no run, no part of one, no
//! file.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::faults::{DATABASE, calls, entries, import, profdb, text, with_fault};
use crate::support::long;

/// Levels of the tree: all but the innermost nodes are open when the rows of those are written, so
/// that more rows are late, and more nodes of functions, than wait in memory.
const DEPTH: usize = 160_000;

/// Files that have no name any more, as the system calls them.
const NAMELESS: &str = " (deleted)";

/// A tree with one node at each level.
fn chain() -> String {
    let mut rows = String::from(
        "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"",
    );
    for depth in 0..DEPTH {
        let below = DEPTH - depth;
        let _ = write!(rows, "\n{depth},\"#.f{}\",,1,1,{below}", depth % 7);
    }
    rows
}

/// An import with something happening at a write to a file without a name: exit code, what is said,
/// and how many such writes there were.
fn imported(folder: &Path, profile: &Path, at: usize, what: &str) -> (Option<i32>, String, usize) {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = profdb(folder, &["import", "--db", DATABASE]);
    with_fault(command.arg(profile), folder, log.path(), at, what);
    command.env("FAULT_ENDS", NAMELESS);
    let done = command.output().expect("the program is there");
    let writes = calls(log.path());
    let writes = writes.iter().filter(|(call, _)| call == "write").count();
    (done.status.code(), text(&done.stderr), writes)
}

#[test]
fn what_goes_wrong_with_late_rows_leaves_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let profile = place.path().join("deep.csv");
    fs::write(&profile, chain()).expect("space on the disk");
    let only_the_database = BTreeSet::from([DATABASE.to_owned()]);

    let folder = tempfile::tempdir().expect("a folder");
    let (code, said, writes) = imported(folder.path(), &profile, 0, "");
    assert_eq!(code, Some(0), "{said}");
    assert!(writes >= 2, "rows and nodes wait: {writes} writes");
    assert_eq!(entries(folder.path()), only_the_database);
    let checked = profdb(folder.path(), &["check", "--db", DATABASE]).output();
    let checked = checked.expect("the program is there");
    assert!(checked.status.success(), "{}", text(&checked.stdout));
    let whole = fs::read(folder.path().join(DATABASE))
        .expect("it is there")
        .len();

    // The first write is of rows, the last one of nodes of functions.
    // ENOSPC once, and from then on; EIO; half of a write; and the end of the program.
    let faults = ["28", "28+", "5", "short", "kill", "torn"];
    for (turn, at) in [1, writes / 2, writes].into_iter().enumerate() {
        // The long form tries each fault at each write.
        let (skipped, step) = if long::is_long() { (0, 1) } else { (turn, 3) };
        for what in faults.into_iter().skip(skipped).step_by(step) {
            let about = format!("write {at} of {writes}: {what}");
            let folder = tempfile::tempdir().expect("a folder");
            let (code, said, _) = imported(folder.path(), &profile, at, what);
            match what {
                "short" => assert_eq!(code, Some(0), "{about}: {said}"),
                "kill" | "torn" => assert_eq!(code, None, "{about}: {said}"),
                _ => {
                    assert_eq!(code, Some(5), "{about}: {said}");
                    let line = said.lines().last().unwrap_or_default();
                    let reason = if what == "5" { "error" } else { "full" };
                    assert!(
                        line.starts_with("profdb: x.db: ") && line.contains(reason),
                        "{about}: {said}"
                    );
                    assert_eq!(entries(folder.path()), BTreeSet::new(), "{about}");
                }
            }
            let is_there = folder.path().join(DATABASE).exists();
            assert_eq!(is_there, what == "short", "{about}");
            // The next import finds nothing in its way, and clears away what a kill has left.
            if matches!(what, "kill" | "28+") {
                import(folder.path(), &profile);
            }
            if folder.path().join(DATABASE).exists() {
                assert_eq!(entries(folder.path()), only_the_database, "{about}");
                let size = fs::read(folder.path().join(DATABASE))
                    .expect("it is there")
                    .len();
                assert_eq!(size, whole, "{about}");
            }
        }
    }
}

/// Merged stacks that leave memory stay there when their temporary file takes nothing.
#[test]
fn merged_stacks_stay_in_memory_when_their_file_is_full() {
    let place = tempfile::tempdir().expect("a folder");
    // More nodes than debug builds keep in memory: a stack for each set of three functions.
    let profile = place.path().join("p.folded");
    let mut stacks = String::new();
    for one in 0..32 {
        for two in 0..one {
            for three in 0..two {
                let _ = writeln!(stacks, "f{one};f{two};f{three} {}", one + two + three);
            }
        }
    }
    fs::write(&profile, &stacks).expect("space on the disk");
    // Nothing happens, then the file takes nothing.
    for (at, what) in [(0, ""), (1, "28+")] {
        let (folder, temporary) = (tempfile::tempdir(), tempfile::tempdir());
        let (folder, temporary) = (folder.expect("a folder"), temporary.expect("a folder"));
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
        with_fault(
            command.arg(&profile),
            temporary.path(),
            log.path(),
            at,
            what,
        );
        command
            .env("FAULT_ENDS", NAMELESS)
            .env("TMPDIR", temporary.path());
        let done = command.output().expect("the program is there");
        assert!(done.status.success(), "{what}: {}", text(&done.stderr));
        let writes = calls(log.path());
        assert!(
            writes.iter().any(|(call, _)| call == "write"),
            "{what}: {writes:?}"
        );
        let arguments = ["export", "--db", DATABASE, "--format", "folded"];
        let exported = profdb(folder.path(), &arguments).output();
        let exported = exported.expect("the program is there");
        assert!(text(&exported.stdout) == stacks, "{what}");
        assert_eq!(entries(temporary.path()), BTreeSet::new(), "{what}");
    }
}
