//! The program: parse, run, map the error to an exit code.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use profdb::cli::{self, Failure};
use profdb::error::Stop;

/// How long an interrupted import may take to roll back before the program ends all the same. Nothing is lost then: the
/// next program that opens the database rolls back what this one has left.
const GRACE: Duration = Duration::from_secs(3);

const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let stop = Stop::default();
    let asked = stop.clone();
    let handled = ctrlc::set_handler(move || {
        asked.set();
        thread::sleep(GRACE);
        // A read from a terminal or a pipe may never return.
        cli::say_interrupted();
        std::process::exit(i32::from(INTERRUPTED));
    });
    // Without a handler an interrupt ends the program at once, which is as safe.
    drop(handled);
    ExitCode::from(match cli::run(&stop) {
        Ok(()) => 0,
        Err(failure) => exit_code(failure),
    })
}

/// The one place where a failure becomes a number; ARCHITECTURE.md has the table.
fn exit_code(failure: Failure) -> u8 {
    match failure {
        Failure::ClosedPipe => 0,
        Failure::Output | Failure::CheckFailed => 1,
        Failure::Usage => 2,
        Failure::Input => 3,
        Failure::NothingSelected => 4,
        Failure::Database => 5,
        Failure::Interrupted => INTERRUPTED,
    }
}
