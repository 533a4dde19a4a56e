//! The program, as tests start it: without the database and the standard input of whoever runs them.

use std::process::{Command, Stdio};

/// Where the program is: for copies of it, and for scripts, whose environment must not have `PROFDB_DB`.
pub(crate) const PROFDB: &str = env!("CARGO_BIN_EXE_profdb");

/// The program, without arguments.
pub(crate) fn command() -> Command {
    let mut command = Command::new(PROFDB);
    command.env_remove("PROFDB_DB").stdin(Stdio::null());
    command
}
