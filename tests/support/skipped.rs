//! The list of skipped tests, which all test programs of one `cargo test` share.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the notes of other test programs"
)]
#![expect(clippy::print_stderr, reason = "reports what was skipped")]

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Adds a skipped test to the list.
pub(crate) fn record(test: &str, reason: &str) {
    let noted = OpenOptions::new().create(true).append(true).open(notes());
    noted
        .and_then(|mut file| writeln!(file, "{test}: {reason}"))
        .expect("the folder for tests is writable");
}

/// Prints the list, and moves it to the file that [`last_names`] reads.
pub(crate) fn print() {
    let notes = notes();
    let text = fs::read_to_string(&notes).unwrap_or_default();
    let lines: BTreeSet<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    eprintln!("\nskipped tests ({}):", lines.len());
    for line in lines {
        eprintln!("  {line}");
    }
    fs::rename(notes, last_list()).expect("the folder for tests is writable");
}

/// Returns the names of the tests in the list that was printed last.
pub(crate) fn last_names() -> BTreeSet<String> {
    let text = fs::read_to_string(last_list()).unwrap_or_default();
    let names = text
        .lines()
        .filter_map(|line| line.split(": needs ").next());
    names.map(str::to_owned).collect()
}

/// The variable that hands the path of the list to the process that runs the tests.
const LIST: &str = "SKIPPED_TESTS";

/// Returns true if another process prints the list.
pub(crate) fn has_list() -> bool {
    env::var_os(LIST).is_some()
}

/// Lets a process add to the list.
pub(crate) fn share_list(command: &mut Command) -> &mut Command {
    command.env(LIST, notes())
}

/// Lets a test program print a list of its own.
pub(crate) fn hide_list(command: &mut Command) -> &mut Command {
    command.env_remove(LIST)
}

/// Returns the file to which all test programs of one `cargo test` write.
fn notes() -> PathBuf {
    if let Some(list) = env::var_os(LIST) {
        return list.into();
    }
    #[cfg(unix)]
    // Cargo is the parent of all test programs that it starts.
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("skipped.{parent}"))
}

fn last_list() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped")
}
