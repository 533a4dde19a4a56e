//! Waiting for another program that has the database: for a bounded time, not in silence, and not
//! when nobody wants it any more.
//!
//! SQLite waits by itself where it wants a lock, also in the middle of a statement, at every page
//! that it has no room for, and cannot be asked to stop. So it is told not to wait in a change of
//! the database, and what may have to wait is tried again here: to begin a change, and to end it.

use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

use crate::base::error::Stop;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Who waits longer is told so.
const QUIET: Duration = Duration::from_secs(1);

/// How long a statement waits that only reads: no one keeps readers out for longer than it takes to
/// end a change.
pub(in crate::store) const READING: Duration = Duration::from_secs(10);

/// How to wait for a lock of another program.
#[derive(Clone)]
pub struct Patience {
    /// How long.
    pub limit: Duration,
    /// Who waits no more when this is set.
    pub stop: Stop,
    /// What to do after a second, once a wait: called with the file and the limit.
    pub tell: fn(&Path, Duration),
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            limit: Duration::from_secs(10),
            stop: Stop::default(),
            tell: |_, _| (),
        }
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Patience({:?})", self.limit)
    }
}

impl Patience {
    /// Tries until something is done. `None` if the time is over before, or somebody asks to stop.
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

/// `None` if another program has the lock that this took.
pub(in crate::store) fn unless_locked<T>(
    tried: rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    match tried {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        tried => tried.map(Some),
    }
}
