//! Waiting for another program's lock: for a bounded time, with a message, and until a stop is
//! asked for.
//!
//! SQLite itself waits wherever it wants a lock, also in the middle of a statement, at every page
//! that it has no room for, and cannot be stopped then. So its own wait is off while the
//! database is changed; beginning and ending a change, which may have to wait, are tried again
//! here.

use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

use crate::base::error::Stop;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// After so long, a message says so.
const QUIET: Duration = Duration::from_secs(1);

/// How long a statement waits that only reads: no one keeps readers out for longer than it takes to
/// end a change.
pub(in crate::store) const READING: Duration = Duration::from_secs(10);

/// How to wait for a lock of another program.
#[derive(Clone)]
pub struct LockWait {
    /// How long to wait at most.
    pub limit: Duration,
    /// Ends the wait when it is set.
    pub stop: Stop,
    /// Called once after a second of waiting, with the file and the limit.
    pub tell: fn(&Path, Duration),
}

impl Default for LockWait {
    fn default() -> Self {
        Self {
            limit: Duration::from_secs(10),
            stop: Stop::default(),
            tell: |_, _| (),
        }
    }
}

impl fmt::Debug for LockWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockWait({:?})", self.limit)
    }
}

impl LockWait {
    /// Tries until something is done. `None` if the time is over before, or a stop is asked for.
    pub(in crate::store) fn wait<T, E>(
        &self,
        path: &Path,
        mut attempt: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        #[expect(clippy::disallowed_methods, reason = "a wait is about time")]
        let started = Instant::now();
        let mut is_told = false;
        loop {
            if let Some(done) = attempt()? {
                return Ok(Some(done));
            }
            let waited = started.elapsed();
            // Time is looked at after an attempt, so that there is one even where nothing may be
            // waited for.
            if waited >= self.limit || self.stop.is_set() {
                return Ok(None);
            }
            if waited >= QUIET && !is_told {
                (self.tell)(path, self.limit);
                is_told = true;
            }
            sleep(PAUSE);
        }
    }
}

/// What was tried; `None` if another program has a lock that it needs.
pub(in crate::store) fn unless_locked<T>(
    tried: rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    match tried {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        tried => tried.map(Some),
    }
}
