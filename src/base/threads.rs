//! Threads that are joined, and work that is done at once where the system gives no thread.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Joins a thread: gives its result, or passes on its panic.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Work that a thread does, or that has been done because the system gave no thread.
pub(crate) enum Work<'s, T> {
    Thread(ScopedJoinHandle<'s, T>),
    Done(T),
}

impl<T> Work<'_, T> {
    /// Its result.
    pub(crate) fn joined(self) -> T {
        match self {
            Self::Thread(thread) => joined(thread),
            Self::Done(done) => done,
        }
    }
}

/// Does work in a thread of its own if the system gives one, else at once.
pub(crate) fn aside<'s, 'e, T: Send + 's, F: FnOnce() -> T + Send + 's>(
    scope: &'s Scope<'s, 'e>,
    work: F,
) -> Work<'s, T> {
    // `spawn_scoped` drops what it was given where it fails: so the thread is given a handle, and
    // the work is still here to be done.
    let work = Arc::new(Mutex::new(Some(work)));
    let taken = |work: &Mutex<Option<F>>| work.lock().ok().and_then(|mut work| work.take());
    let of_thread = Arc::clone(&work);
    let begun =
        Builder::new().spawn_scoped(scope, move || taken(&of_thread).expect("it is done once")());
    match begun {
        Ok(thread) => Work::Thread(thread),
        Err(_) => Work::Done(taken(&work).expect("no thread has begun it")()),
    }
}
