//! Threads that somebody waits for.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

/// What a thread comes to. Its panic is ours.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
