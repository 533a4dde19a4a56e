//! Times as a file writes them, exact also where they have more digits than a REAL holds: nanoseconds since 1970 have 19.

use std::fmt::{self, Display, Formatter};

/// Times are less: their differences fit into 128 bits.
const MOST: f64 = 1e36;

/// A time, in whatever unit the file has.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Moment {
    /// Its whole units, towards 0.
    whole: i128,
    /// What is left, less than a unit, with the sign of the time.
    rest: f64,
}

impl Moment {
    /// The time that a decimal number says; `None` if it is none, or has more digits than any clock.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let real: f64 = text.parse().ok().filter(|real: &f64| real.is_finite())?;
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let are_digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
        if real.abs() >= MOST {
            return None;
        }
        if let Ok(whole) = whole.parse()
            && are_digits
        {
            let rest: f64 = match fraction {
                "" => 0.0,
                _ => text[text.len() - fraction.len() - 1..].parse().ok()?,
            };
            return Some(Self {
                whole,
                rest: rest.copysign(real),
            });
        }
        // With an exponent it has no more digits than a REAL.
        let whole = real.trunc();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole, and far from the ends of 128 bits"
        )]
        Some(Self {
            whole: whole as i128,
            rest: real - whole,
        })
    }

    /// How long it is after another one.
    #[expect(clippy::cast_precision_loss, reason = "a duration is a REAL")]
    pub(super) fn since(self, earlier: Self) -> f64 {
        (self.whole - earlier.whole) as f64 + (self.rest - earlier.rest)
    }
}

impl Display for Moment {
    #[expect(clippy::cast_precision_loss, reason = "as near as a REAL can say it")]
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.rest == 0.0 {
            write!(formatter, "{}", self.whole)
        } else {
            write!(formatter, "{}", self.whole as f64 + self.rest)
        }
    }
}
