//! Sums as SQLite makes them.

use rusqlite::{Error, ffi};

use crate::base::sum::Sum;

/// A sum of costs some of which may be unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Costs {
    sum: Sum,
    some_known: bool,
    some_unknown: bool,
}

impl Costs {
    pub(super) fn add(&mut self, part: Option<f64>) {
        match part {
            Some(part) => {
                self.sum.add(part);
                self.some_known = true;
            }
            None => self.some_unknown = true,
        }
    }

    /// Remembers that a part is unknown, whatever is added for it.
    pub(super) fn doubt(&mut self) {
        self.some_unknown = true;
    }

    /// The sum of those that are known; `None` if none is.
    pub(super) fn known(self) -> Option<f64> {
        self.some_known.then(|| self.sum.value())
    }

    /// The sum, if all are known.
    pub(super) fn all(self) -> Option<f64> {
        self.known().filter(|_| !self.some_unknown)
    }
}

/// A sum of calls, which is unknown as soon as one part is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    sum: i64,
    some_unknown: bool,
}

impl Calls {
    /// # Errors
    /// When the sum is too large, as SQLite says it.
    pub(super) fn add(&mut self, part: Option<i64>) -> rusqlite::Result<()> {
        match part {
            // A sum that is not shown overflows, too: SQLite adds up before it looks whether all
            // parts are known.
            Some(part) => self.sum = self.sum.checked_add(part).ok_or_else(overflow)?,
            None => self.some_unknown = true,
        }
        Ok(())
    }

    /// The sum, if all are known.
    pub(super) fn all(self) -> Option<i64> {
        (!self.some_unknown).then_some(self.sum)
    }
}

fn overflow() -> Error {
    Error::SqliteFailure(
        ffi::Error::new(ffi::SQLITE_ERROR),
        Some("integer overflow".to_owned()),
    )
}
