//! How long an interrupted program waits for its threads.

use std::time::Duration;

use profdb::base::ending::{Doing, GRACE, NOTICE};
use profdb::base::error::Stop;
use profdb::store::Database;

/// Asserts that the program ends after a time, and not before it.
fn check(doing: Doing, limit: Duration) {
    let before = limit.saturating_sub(Duration::from_millis(1));
    assert!(!doing.is_given_up(before), "{doing:?}");
    assert!(doing.is_given_up(limit), "{doing:?}");
}

#[test]
fn thread_that_does_not_look_is_given_up_first() {
    check(Doing::default(), NOTICE);
}

#[test]
fn thread_that_has_noticed_gets_time_to_end() {
    let stop = Stop::default();
    stop.interrupt();
    assert!(stop.is_set());
    check(Doing::now(), GRACE);
}

#[test]
fn change_of_a_database_gets_time_to_roll_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut database = Database::open(&folder.path().join("x.db")).expect("a new database");
    let writer = database.begin_run().expect("a new run");
    check(Doing::now(), GRACE);
    drop(writer);
}

/// A read of standard input may never return, whether other threads have noticed or not.
#[cfg(unix)]
#[test]
fn interrupted_read_of_standard_input_is_given_up() {
    use std::io::Write;
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    use crate::support::program;

    let folder = tempfile::tempdir().expect("a folder");
    // `dump` has one thread. `import` has others, which look at the request to stop.
    for arguments in [&["dump", "-"][..], &["import", "--db", "x.db", "-"]] {
        let mut command = program::command();
        command.args(arguments).current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program");
        let mut input = child.stdin.take().expect("a pipe");
        // More than a pipe holds: the program reads.
        let lines = b"a;b 1\n".repeat(30_000);
        input.write_all(&lines).expect("a program that reads");
        let process = Pid::from_child(&child);
        kill_process(process, Signal::INT).expect("a process of ours");
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(130), "{arguments:?}");
        drop(input);
    }
    assert!(!folder.path().join("x.db").exists());
}
