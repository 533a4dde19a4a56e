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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_unit_for_each_figure_and_the_sum() {
        // As binary numbers, these differences are a little more than half a unit.
        for (unit, figures, differs) in [
            (0.01, 0, 0.125_f64 - 0.12),
            (0.1, 2, 0.15_f64),
            (1000.0, 3, 2000.0),
        ] {
            assert!(differs <= slack(unit, figures), "{unit} {figures}");
            assert!(differs * 1.001 > slack(unit, figures), "{unit} {figures}");
        }
        assert!(slack(0.0, 5).abs() < f64::MIN_POSITIVE);
    }
}
