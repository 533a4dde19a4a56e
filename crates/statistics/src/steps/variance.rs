//! How much a series varies where it does not change, memory included.
//!
//! Differences of neighbours do not see steps, but for the few that cross one. What they do not show is memory: where a value is
//! like the one before it, means of long stretches vary more than independent values would let them. The variance that counts for
//! means is the long-run variance (Andrews 1991, "Heteroskedasticity and autocorrelation consistent covariance matrix
//! estimation"), here that of an autoregression of first order, whose coefficient is read from the differences as well.

use crate::summary::median;

/// The part of the differences that may cross steps, and is left out.
const CROSSING: f64 = 0.05;
/// A memory longer than this is not told from a step.
const MOST_MEMORY: f64 = 0.9;
/// Standard deviation of normal values in units of the median of their absolute values.
const OF_MEDIAN: f64 = 1.0 / 0.6745;
/// Differences beyond this many standard deviations say no more of the memory than these.
const REACH: f64 = 3.0;

/// A difference across a cut says nothing of the memory from as many standard deviations on.
const STANDS_OUT: f64 = 2.0;
/// So few values say nothing of the memory.
const TELLS_NONE: f64 = 3.0;

/// The variances of a value that weighs 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variation {
    /// Of one value.
    pub(super) single: f64,
    /// What a value has of the one before it, from 0 to [`MOST_MEMORY`].
    memory: f64,
}

impl Variation {
    /// Of values with variances in some unit of their own; differences across `cuts` that stand out say nothing of the memory.
    ///
    /// The difference across a step is followed by one as small as any, which looks like memory: in a short series, one step would
    /// hide itself.
    pub(super) fn of(values: &[f64], variances: &[f64], cuts: &[usize]) -> Self {
        let differences = differences(values, variances);
        // One more than that part, if it is no whole number: the step may be in a short series.
        let deviation = deviation(&differences, f64::ceil);
        let memory = memory(&differences, deviation, cuts);
        Self::new(deviation, memory)
    }

    /// From the standard deviation of differences.
    fn new(deviation: f64, memory: f64) -> Self {
        Self {
            single: deviation * deviation / (2.0 * (1.0 - memory)),
            memory,
        }
    }

    /// Of the mean of many values, times their number.
    pub(super) fn long_run(self) -> f64 {
        self.single * (1.0 + self.memory) / (1.0 - self.memory)
    }

    /// The variance of as different values without memory.
    pub(super) fn forgetful(self) -> Self {
        Self {
            single: self.single * (1.0 - self.memory),
            memory: 0.0,
        }
    }

    /// Of other values, between which there is no step, with as long a memory: few values tell nothing of it.
    pub(super) fn nearby(self, values: &[f64], variances: &[f64]) -> Self {
        let differences = differences(values, variances);
        Self::new(deviation(&differences, f64::floor), self.memory)
    }

    /// Not below what the figures must vary at least.
    pub(super) fn at_least(self, single: f64) -> Self {
        Self {
            single: self.single.max(single),
            ..self
        }
    }
}

/// Differences of neighbours, less their median: a slope is no variance. Each in units of its own standard deviation.
fn differences(values: &[f64], variances: &[f64]) -> Vec<f64> {
    let pairs = values.windows(2).zip(variances.windows(2));
    let mut differences: Vec<f64> = pairs
        .map(|(pair, variance)| {
            (pair[1] - pair[0]) / f64::midpoint(variance[0], variance[1]).sqrt()
        })
        .collect();
    if !differences.is_empty() {
        let middle = median(differences.clone());
        for difference in &mut differences {
            *difference -= middle;
        }
    }
    differences
}

/// The standard deviation of differences, without the largest ones, but not below what the median of all says.
fn deviation(differences: &[f64], rounded: fn(f64) -> f64) -> f64 {
    if differences.len() < 2 {
        return 0.0;
    }
    let mut sizes: Vec<f64> = differences
        .iter()
        .map(|difference| difference.abs())
        .collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let left_out = rounded(CROSSING * sizes.len() as f64) as usize;
    let kept = &sizes[..(sizes.len() - left_out).max(2)];
    let trimmed = (kept.iter().map(|size| size * size).sum::<f64>() / kept.len() as f64).sqrt();
    let middle = f64::midpoint(sizes[(sizes.len() - 1) / 2], sizes[sizes.len() / 2]);
    trimmed.max(middle * OF_MEDIAN)
}

/// What a value has of the one before it, by the correlation of neighbouring differences: -1/2 where it has nothing. Fewer values
/// tell less of it, and what they tell counts less.
fn memory(differences: &[f64], deviation: f64, cuts: &[usize]) -> f64 {
    if deviation == 0.0 {
        return 0.0;
    }
    let reach = REACH * deviation;
    let mut clamped: Vec<f64> = differences
        .iter()
        .map(|difference| difference.clamp(-reach, reach))
        .collect();
    let n = clamped.len() as f64;
    let mut left_out = 0.0;
    for cut in cuts {
        if clamped[cut - 1].abs() >= STANDS_OUT * deviation {
            clamped[cut - 1] = 0.0;
            left_out += 1.0;
        }
    }
    let products: f64 = clamped.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let squares: f64 = clamped
        .iter()
        .map(|difference| difference * difference)
        .sum();
    // Each difference that is left out takes two products with it.
    let pairs = (n - 1.0 - 2.0 * left_out).max(1.0);
    let correlation = products / squares * (n - left_out) / pairs * (n - 1.0) / n;
    let weight = (1.0 - TELLS_NONE / (n + 1.0)).max(0.0);
    (1.0 + 2.0 * correlation).clamp(0.0, MOST_MEMORY) * weight
}

/// Values of which those far from the median of their neighbours are moved towards it, up to `reach` standard deviations.
pub(super) fn clipped(values: &[f64], variances: &[f64], single: f64) -> Vec<f64> {
    let mut window = Vec::with_capacity(5);
    (0..values.len())
        .map(|at| {
            window.clear();
            window.extend_from_slice(&values[at.saturating_sub(2)..values.len().min(at + 3)]);
            window.sort_unstable_by(f64::total_cmp);
            let middle = f64::midpoint(window[(window.len() - 1) / 2], window[window.len() / 2]);
            let reach = REACH * (single * variances[at]).sqrt();
            values[at].clamp(middle - reach, middle + reach)
        })
        .collect()
}
