//! What an interrupted program waits for before it ends.
//!
//! Some threads look whether they are to stop, and end by themselves. A loop over numbers does not look, and a
//! read from a terminal or a pipe may never return: the program ends without those. Only what would be left
//! half changed in a file of the user's is waited for, until it has been taken back.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a thread may take to notice.
pub const NOTICE: Duration = Duration::from_millis(100);

/// How long the program may take to roll back, or to end what has been noticed. Nothing is lost after
/// it, either: the next program that opens the database rolls back what this one has left.
pub const GRACE: Duration = Duration::from_secs(3);

static CHANGES: AtomicUsize = AtomicUsize::new(0);

static READS: AtomicUsize = AtomicUsize::new(0);

static IS_NOTICED: AtomicBool = AtomicBool::new(false);

/// A change of a file of the user's that is under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Change(());

impl Change {
    pub(crate) fn begin() -> Self {
        CHANGES.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        CHANGES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads what may never come.
pub(crate) fn reading<T>(read: impl FnOnce() -> T) -> T {
    READS.fetch_add(1, Ordering::SeqCst);
    let read = read();
    READS.fetch_sub(1, Ordering::SeqCst);
    read
}

/// The program has been interrupted: no thread has noticed yet.
pub(super) fn interrupted() {
    // Threads of an import whose file has failed were asked to stop, too.
    IS_NOTICED.store(false, Ordering::Relaxed);
}

/// A thread has noticed that it is to stop.
pub(crate) fn noticed() {
    IS_NOTICED.store(true, Ordering::Relaxed);
}

/// What the threads of the program do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doing {
    changes: bool,
    reads: bool,
    is_noticed: bool,
}

impl Doing {
    /// What they do now.
    #[must_use]
    pub fn now() -> Self {
        Self {
            changes: CHANGES.load(Ordering::SeqCst) > 0,
            reads: READS.load(Ordering::SeqCst) > 0,
            is_noticed: IS_NOTICED.load(Ordering::Relaxed),
        }
    }

    /// Whether the program ends without them, so long after the interrupt.
    #[must_use]
    pub fn is_given_up(self, waited: Duration) -> bool {
        // Who has noticed has something to say at the end; unless another thread does not come back.
        let ends_by_itself = self.changes || (self.is_noticed && !self.reads);
        waited >= GRACE || (waited >= NOTICE && !ends_by_itself)
    }
}
