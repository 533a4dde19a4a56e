//! Means, medians and sums of squares.

/// Threshold up to which the logarithm of a ratio is a rounding error. Rounding errors of equal figures are about 10^-14.
pub const ROUNDING: f64 = 1e-12;

/// The part of a figure by which it may differ from one that was added up or divided in another order.
const ROUNDING_OF_SUMS: f64 = 1e-13;

/// The middle value, or the mean of the two middle ones.
///
/// # Panics
///
/// Where there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// Returns whether a figure is above a limit by more than a rounding error.
pub fn is_above(figure: f64, limit: f64) -> bool {
    figure > limit * (1.0 + ROUNDING)
}

/// Returns the arithmetic mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the difference of new and base; 0 if it is a rounding error. Whole numbers are exact, shares and means are not.
pub fn change(base: f64, new: f64) -> f64 {
    let difference = new - base;
    let is_whole = base.fract() == 0.0 && new.fract() == 0.0;
    if !is_whole && difference.abs() <= ROUNDING_OF_SUMS * base.abs().max(new.abs()) {
        0.0
    } else {
        difference
    }
}

/// Natural logarithm of the ratio of two rates: 0 where both are 0.
pub(crate) fn ln_ratio(base: f64, new: f64) -> f64 {
    if base == new {
        return 0.0;
    }
    new.ln() - base.ln()
}

/// A variance relative to the square of the mean, 0 where it is that of rounding: what is equal has no variance, and no trace of one
/// that others could be compared with.
pub(crate) fn unrounded(relative_variance: f64) -> f64 {
    if relative_variance <= ROUNDING * ROUNDING {
        0.0
    } else {
        relative_variance
    }
}

/// Sum of squares about the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}
