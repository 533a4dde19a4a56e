//! How far figures that a file rounds may be from what they add up to.

/// Two figures that differ by less than this part of them are equal but for the rounding of REALs.
pub const ROUNDING: f64 = 1e-9;

/// By how much a figure may differ from the sum of so many others, if a file rounds all of them to a
/// unit ([`Fact::Rounding`](super::Fact::Rounding)): each is off by half of it at most.
#[must_use]
pub fn slack(unit: f64, figures: u32) -> f64 {
    // One more than the parts: the sum in the file is rounded itself. A difference of exactly so
    // much is allowed, whatever its last binary digit became.
    unit / 2.0 * (f64::from(figures) + 1.0) * (1.0 + ROUNDING)
}
