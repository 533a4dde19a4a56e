//! The tested program, and the environment in which tests start programs.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// Path of the program, for copies of it and for scripts.
pub(crate) const PROFDB: &str = env!("CARGO_BIN_EXE_profdb");

/// Returns a command that starts the program, without arguments and without input.
pub(crate) fn command() -> Command {
    let mut command = command_at(PROFDB);
    command.stdin(Stdio::null());
    command
}

/// Returns a command that starts a program in one locale and time zone.
///
/// It does not see the database, the pager, the repository or the terminal settings of whoever runs
/// the tests.
pub(crate) fn command_at(path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(path);
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC0");
    for variable in [
        "CLICOLOR_FORCE",
        "COLUMNS",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_WORK_TREE",
        "LINES",
        "NO_COLOR",
        "PAGER",
        "PROFDB_DB",
        "PROFDB_PAGER",
        "SQLITE_TMPDIR",
    ] {
        command.env_remove(variable);
    }
    command
}

/// Returns a command that starts the running test program again, in its own environment.
pub(crate) fn test_program() -> Command {
    Command::new(std::env::current_exe().expect("the path of the test program"))
}
