//! What went wrong, and how it is said: on standard error, once, where it is known best.

use std::fmt::Display;
use std::io::{self, Write};

use super::heard;
use super::progress::{beside, end_at_once};
use super::streams;
use crate::base::error::Stop;
use crate::base::limits;
use crate::report::ReportError;
use crate::store::{ChooseError, StoreError};
use crate::text::plain::plain_line;

/// What kept a command from doing what it was asked. It has been reported already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The reader of our output has closed it: no failure at all.
    ClosedPipe,
    /// The output could not be written.
    Output,
    /// The command line does not make sense.
    Usage,
    /// An input is missing, unreadable, not recognised or malformed.
    Input,
    /// There is nothing of the kind asked for.
    NothingSelected,
    /// A check found something.
    CheckFailed,
    /// The database.
    Database,
    /// The system gives no more memory, files, threads, or room in a file.
    Limit,
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl Failure {
    /// The exit code of the program. The one place where a failure becomes a number; ARCHITECTURE.md has the table.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Output | Self::CheckFailed => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::NothingSelected => 4,
            Self::Database | Self::Limit => 5,
            Self::Interrupted => 130,
        }
    }
}

/// Said where a dataset is asked for and cannot be had.
#[cfg(not(feature = "parquet"))]
pub(super) const WITHOUT_PARQUET: &str = "this profdb was built without datasets (feature parquet)";

/// Lets clap say what it has to say: help on standard output, complaints on standard error.
pub(super) fn explain(error: &clap::Error) -> Failure {
    if error.use_stderr() {
        // The command line is wrong also where standard error is closed.
        let _ = error.print();
        return Failure::Usage;
    }
    match streams::output().and_then(|_| error.print()) {
        Ok(()) => Failure::ClosedPipe,
        Err(error) => output(error),
    }
}

/// Reports a failure that has no file of its own.
pub(super) fn complain(message: impl Display, failure: Failure) -> Failure {
    say(message);
    failure
}

/// Says something on standard error, or to whoever else has asked. Where that fails, there is no other place to report it.
pub(super) fn say(message: impl Display) {
    if let Err(message) = heard::say(in_words(&message.to_string())) {
        beside(|| tell(&message));
    }
}

/// A message without the numbers that Rust adds to the system's words: in `No such file or directory (os error 2)` the
/// words say all.
fn in_words(message: &str) -> String {
    let mut parts = message.split(NUMBER);
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => said.push_str(rest),
            _ => said.extend([NUMBER, part]),
        }
    }
    said
}

/// What comes before the number of an error of the system.
const NUMBER: &str = " (os error ";

fn tell(message: &str) {
    let _ = writeln!(io::stderr(), "profdb: {}", plain_line(message));
}

/// Writes a line to standard output.
pub(super) fn line(text: impl Display) -> Result<(), Failure> {
    beside(|| writeln!(streams::output()?, "{}", plain_line(&text.to_string()))).map_err(output)
}

/// Says that the program gives up waiting for an input, which an interrupt has asked for.
pub fn say_interrupted() {
    end_at_once();
    tell("interrupted");
}

pub(super) fn output(error: io::Error) -> Failure {
    unwritten("cannot write the output", error)
}

/// Reports that something could not be written.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err has")]
pub(super) fn unwritten(what: &str, error: io::Error) -> Failure {
    match error.kind() {
        // The reader has seen enough, as `head` does: that is no failure.
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ if limits::is_limit(&error) => complain(format!("{what}: {error}"), Failure::Limit),
        _ => complain(format!("{what}: {error}"), Failure::Output),
    }
}

/// What it means that an input cannot be had: a fault of the input, or a limit of the system.
pub(super) fn unread(error: &io::Error) -> Failure {
    if limits::is_limit(error) {
        Failure::Limit
    } else {
        Failure::Input
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err has")]
pub(super) fn database(error: StoreError, stop: &Stop) -> Failure {
    // A statement that is interrupted fails with an error of SQLite's, which is not the reason.
    if stop.is_set() {
        Failure::Interrupted
    } else {
        store(&error)
    }
}

/// Reports a failure of the database.
pub(super) fn store(error: &StoreError) -> Failure {
    // SQLite reports `ulimit -f` as an error of the disk; the signal that came with it says more.
    if limits::is_file_too_large() {
        return complain(
            format!("{error}: the file would exceed the size limit of the system"),
            Failure::Limit,
        );
    }
    complain(error, Failure::Database)
}

/// Reports why there are no runs to go on with.
pub(super) fn unchosen(error: ChooseError, stop: &Stop) -> Failure {
    match error {
        ChooseError::NoRuns(message) => complain(message, Failure::NothingSelected),
        ChooseError::Store(error) => database(error, stop),
    }
}

/// Reports why a question has no answer.
pub(super) fn unanswered(error: ReportError, stop: &Stop) -> Failure {
    match error {
        ReportError::Usage(message) => complain(message, Failure::Usage),
        ReportError::NothingSelected(_) | ReportError::NoGroups(_) | ReportError::Several(_) => {
            complain(error, Failure::NothingSelected)
        }
        ReportError::Store(error) => database(error, stop),
    }
}
