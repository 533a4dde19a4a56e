//! Standard input and output where the program was started without one of them, as `profdb runs >&-` does.
//!
//! Before `main`, the runtime of Rust opens `/dev/null` in the place of a stream that is closed, so that no file that is opened
//! later gets its number. What is written to it then vanishes, and nothing tells it from a `/dev/null` that the caller has given:
//! Python's `subprocess.DEVNULL` is open for reading and writing, too. So the program looks before the runtime does
//! (src/streams.rs), and a stream that was closed fails where it is used, as in `cat` and `grep`.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static NO_INPUT: AtomicBool = AtomicBool::new(false);
static NO_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Remembers which of the streams are closed. To be called before the runtime of Rust begins, when there is neither a thread
/// nor anything else to rely on: memory is not asked for, and nothing panics.
#[cfg(unix)]
pub fn look() {
    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::{stdin, stdout};
    NO_INPUT.store(fcntl_getfd(stdin()) == Err(Errno::BADF), Ordering::Relaxed);
    NO_OUTPUT.store(fcntl_getfd(stdout()) == Err(Errno::BADF), Ordering::Relaxed);
}

/// Standard input.
///
/// # Errors
/// When the program was started without one.
pub(super) fn input() -> io::Result<io::Stdin> {
    if NO_INPUT.load(Ordering::Relaxed) {
        return Err(io::Error::other("standard input is closed"));
    }
    Ok(io::stdin())
}

/// Standard output.
///
/// # Errors
/// When the program was started without one.
pub(super) fn output() -> io::Result<io::Stdout> {
    if NO_OUTPUT.load(Ordering::Relaxed) {
        return Err(io::Error::other("standard output is closed"));
    }
    Ok(io::stdout())
}
