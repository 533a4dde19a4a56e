//! Means, medians and sums of squares.

/// Logarithms of ratios up to this are rounding: those of figures that are equal differ by some 10^-14.
pub(super) const ROUNDING: f64 = 1e-12;

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

/// Arithmetic mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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
