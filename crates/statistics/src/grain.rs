//! The rounding unit of figures that were written with few digits.
//!
//! Repeats of a small time that is rounded to whole units often agree to the last digit, for example 17, 17, 17 and 16, 16, 16. This is
//! not evidence of a small variance: a time between two units may be rounded up or down.

use crate::summary::mean;
use crate::{Figures, Sides};

/// Whole multiples of a grain, as floating-point numbers are: products of a few units in the last place.
const TOLERANCE: f64 = 1e-9;

/// Figures that have more digits than this are not rounded in a way that matters.
const DIGITS: i32 = 9;

/// Returns the largest power of ten that divides all figures; 0 if it is negligible compared with the largest figure.
#[must_use]
pub fn rounding_unit<'figures>(figures: &(impl Iterator<Item = &'figures f64> + Clone)) -> f64 {
    let largest = figures
        .clone()
        .fold(0.0, |most: f64, figure| most.max(figure.abs()));
    if largest <= 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let exponent = largest.log10().floor() as i32;
    let is_grain = |grain: &f64| {
        figures.clone().all(|figure| {
            let multiple = figure / grain;
            (multiple - multiple.round()).abs() <= TOLERANCE * multiple.abs().max(1.0)
        })
    };
    let grains = (0..DIGITS).map(|digits| 10.0_f64.powi(exponent - digits));
    grains.into_iter().find(is_grain).unwrap_or(0.0)
}

/// Returns the variance that rounding to a unit may cause in the logarithm of the ratio of a function's means. The figures must
/// be above 0.
///
/// A figure half way between two multiples may be rounded to either, which has a standard deviation of half a unit; the maximum.
/// If the figures of each run were divided after rounding, `factors` are the natural logarithms of the divisors, base first, then
/// new.
#[must_use]
pub fn variance(grain: f64, factors: Option<&[f64]>, sides: &Sides, function: usize) -> f64 {
    let of_side = |side: &Figures, first: usize| {
        let runs = side.runs();
        let deviation = |run: usize| match factors {
            Some(factors) => grain / 2.0 / factors[first + run].exp(),
            None => grain / 2.0,
        };
        let squares: f64 = (0..runs).map(|run| deviation(run).powi(2)).sum();
        let sum = mean(side.row(function)) * runs as f64;
        squares / (sum * sum)
    };
    of_side(&sides.base, 0) + of_side(&sides.new, sides.base.runs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grain_is_the_last_digit_that_is_written() {
        for (figures, grain) in [
            (&[17.0, 16.0, 400.0][..], 1.0),
            (&[170.0, 160.0, 400.0], 10.0),
            (&[0.25, 0.75, 12.0], 0.01),
            (&[0.012, 3.4, 0.0], 0.001),
            (&[1.0 / 3.0, 2.0], 0.0),
            (&[123_456_789_012.0, 1.0], 0.0),
            (&[0.0, 0.0], 0.0),
            (&[], 0.0),
            (&[f64::INFINITY, 1.0], 0.0),
            (&[-3.0, 20.0], 1.0),
        ] {
            let found = rounding_unit(&figures.iter());
            assert!(
                (found - grain).abs() <= grain * 1e-12,
                "{figures:?}: {found}"
            );
        }
    }

    #[test]
    fn rounding_varies_by_half_a_grain() {
        let sides = Sides {
            base: Figures::new(3, vec![17.0; 3]),
            new: Figures::new(3, vec![16.0; 3]),
        };
        let expected = (1.0 / (4.0 * 17.0 * 17.0) + 1.0 / (4.0 * 16.0 * 16.0)) / 3.0;
        assert!((variance(1.0, None, &sides, 0) - expected).abs() < 1e-15);
        assert_eq!(variance(0.0, None, &sides, 0), 0.0);
    }

    #[test]
    fn what_figures_are_divided_by_divides_their_rounding() {
        let sizes: [f64; 6] = [1.0, 2.0, 0.5, 4.0, 1.0, 1.0];
        let sides = |divided: bool| {
            let of = |run: usize, figure: f64| if divided { figure / sizes[run] } else { figure };
            Sides {
                base: Figures::new(3, (0..3).map(|run| of(run, 17.0 * sizes[run])).collect()),
                new: Figures::new(3, (3..6).map(|run| of(run, 16.0 * sizes[run])).collect()),
            }
        };
        // Each figure is half a unit beside, and weighs as much as it does in the mean of what was divided.
        let factors = sizes.map(f64::ln);
        let of_side = |sizes: &[f64], mean: f64| -> f64 {
            let squares: f64 = sizes.iter().map(|size| (0.5 / size / 3.0).powi(2)).sum();
            squares / (mean * mean)
        };
        let expected = of_side(&sizes[..3], 17.0) + of_side(&sizes[3..], 16.0);
        let found = variance(1.0, Some(&factors), &sides(true), 0);
        assert!((found - expected).abs() < 1e-15, "{found}");
        // Percentages are as exact as the figures that they are of.
        let shares = Sides {
            base: Figures::new(2, vec![5.0; 2]),
            new: Figures::new(2, vec![5.0; 2]),
        };
        let whole = Sides {
            base: Figures::new(2, vec![500.0; 2]),
            new: Figures::new(2, vec![500.0; 2]),
        };
        let found = variance(1.0, Some(&[100.0_f64.ln(); 4]), &shares, 0);
        let expected = variance(1.0, None, &whole, 0);
        assert!((found - expected).abs() < 1e-18, "{found} {expected}");
    }
}
