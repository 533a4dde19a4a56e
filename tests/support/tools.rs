//! Programs of others that tests need, and what has not been tried for want of one.

#![expect(
    clippy::disallowed_methods,
    reason = "finds programs and remembers what was not tried"
)]

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, io, thread};

/// A program in `PATH`. Where it is missing, the calling test is noted as not tried.
///
/// # Panics
/// Where it is missing and `CI=true`: everything has to be there.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    find_for(thread::current().name().unwrap_or("a test"), program)
}

/// Notes that the calling test has left something out.
///
/// # Panics
/// If `CI=true`.
pub(crate) fn not_tried_here(missing: &str) {
    not_tried(thread::current().name().unwrap_or("a test"), missing);
}

/// Notes that the calling test has left something out that this system does not allow, whatever is
/// installed.
pub(crate) fn not_possible_here(what: &str) {
    note(&format!(
        "{}: needs {what}, which this system does not allow",
        thread::current().name().unwrap_or("a test")
    ));
}

/// Sends a signal to a process. `false` if there is none.
pub(crate) fn kill(process: u32, signal: &str) -> bool {
    // The shell knows the command itself: no other program is needed.
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "kill -\"$0\" \"$1\" 2>/dev/null", signal])
        .arg(process.to_string());
    shell.status().expect("every Unix has a shell").success()
}

/// A program in `PATH` for a test that says who it is.
pub(crate) fn find_for(test: &str, program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file());
    if found.is_none() {
        not_tried(test, program);
    }
    found
}

/// Notes that a test has left something out because something is missing here.
///
/// # Panics
/// If `CI=true`.
pub(crate) fn not_tried(test: &str, missing: &str) {
    let line = format!("{test}: needs {missing}");
    assert!(
        env::var("CI").as_deref() != Ok("true"),
        "{line}, and CI=true: everything is tried there"
    );
    note(&line);
}

/// Says it once, and again at the end of all tests.
fn note(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(line.to_owned())
    {
        // The harness catches what macros print, and shows nothing of a test that passes.
        let _ = writeln!(io::stderr(), "not tried: {line}");
        let noted = OpenOptions::new().create(true).append(true).open(notes());
        noted
            .and_then(|mut file| writeln!(file, "{line}"))
            .expect("the folder for tests can be written");
    }
}

/// Everything that the programs of this run of tests have not tried, which is forgotten by that.
pub(crate) fn all_not_tried() -> Vec<String> {
    let notes = notes();
    let text = fs::read_to_string(&notes).unwrap_or_default();
    let _ = fs::remove_file(notes);
    text.lines().map(str::to_owned).collect()
}

/// A file that all programs write to that one `cargo test` has started.
fn notes() -> PathBuf {
    #[cfg(unix)]
    // All programs of tests of one `cargo test` have it as their parent, and no other `cargo test`
    // has.
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("not-tried.{parent}"))
}
