//! Means, medians and sums of squares.

/// Logarithms of ratios up to this are rounding: those of figures that are equal differ by some 10^-14.
pub(crate) const ROUNDING: f64 = 1e-12;

/// The part of a figure by which it may differ from one that was added up or divided in another order.
const ROUNDING_OF_SUMS: f64 = 1e-13;

/// The middle value, or the mean of the two middle ones.
///
/// # Panics
///
/// Where there is none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// Whether a figure is above a limit: one that is at it keeps it, however the arithmetic that led to both rounds.
pub(crate) fn is_above(figure: f64, limit: f64) -> bool {
    figure > limit * (1.0 + ROUNDING)
}

/// Arithmetic mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// New less base; 0 where they are the same but for rounding. Whole numbers are exact, shares and means are not.
pub(crate) fn change(base: f64, new: f64) -> f64 {
    let difference = new - base;
    let is_whole = base.fract() == 0.0 && new.fract() == 0.0;
    if !is_whole && difference.abs() <= ROUNDING_OF_SUMS * base.abs().max(new.abs()) {
        0.0
    } else {
        difference
    }
}

/// Natural logarithm of the ratio of two rates: 0 where both are 0.
pub(super) fn ln_ratio(base: f64, new: f64) -> f64 {
    if base == new {
        return 0.0;
    }
    new.ln() - base.ln()
}

/// A variance relative to the square of the mean, 0 where it is that of rounding: what is equal has no variance, and no trace of one
/// that others could be compared with.
pub(super) fn unrounded(relative_variance: f64) -> f64 {
    if relative_variance <= ROUNDING * ROUNDING {
        0.0
    } else {
        relative_variance
    }
}

/// Sum of squares about the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}
