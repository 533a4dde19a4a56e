//! Sums as SQLite makes them.

use rusqlite::ToSql;
use rusqlite::types::ToSqlOutput;

use crate::base::sum::Sum;
use crate::text::cell::Value;

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

/// How often something was called. A sum that a whole number of SQLite's does not hold is a REAL there, as the sums of our
/// statements are, which add up the two halves of numbers apart: `SUM` alone would be an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct CallSum(i128);

impl CallSum {
    /// A whole number, or else the nearest REAL.
    #[expect(clippy::cast_precision_loss, reason = "said of such a sum")]
    fn stored(self) -> Result<i64, f64> {
        i64::try_from(self.0).map_err(|_| self.0 as f64)
    }
}

impl From<CallSum> for Value {
    fn from(sum: CallSum) -> Self {
        sum.stored().map_or_else(Self::Real, Self::Integer)
    }
}

impl ToSql for CallSum {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self
            .stored()
            .map_or_else(ToSqlOutput::from, ToSqlOutput::from))
    }
}

/// A sum of calls, which is unknown as soon as one part is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    // No number of nodes makes numbers of 64 bits leave it.
    sum: i128,
    some_unknown: bool,
}

impl Calls {
    pub(super) fn add(&mut self, part: Option<i64>) {
        match part {
            Some(part) => self.sum += i128::from(part),
            None => self.some_unknown = true,
        }
    }

    /// The sum, if all are known.
    pub(super) fn all(self) -> Option<CallSum> {
        (!self.some_unknown).then_some(CallSum(self.sum))
    }
}
