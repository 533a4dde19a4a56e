//! Centers of the costs of both sides: the costs that a row shows, and whose quotient is its ratio.
//!
//! | figures | center |
//! | --- | --- |
//! | exact counts, samples | the mean |
//! | samples of runs that were divided by a factor | the sum of the samples, divided by the sum of the factors |
//! | measured costs, the total of samples, pairs | the geometric mean; the mean if a run has no cost |
//! | any that a rank test compares | the median |
//!
//! Each is the center that the test of the figures compares, so that difference, ratio and verdict have one direction.

use super::matrix::{Limits, Matrix, Test};
use crate::events::Noise;
use profdb_statistics::{change, mean, times};

/// A rule by which the costs of the runs of a side become one cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Center {
    /// The arithmetic mean.
    Mean,
    /// The median.
    Median,
    /// The geometric mean of costs above 0; the arithmetic mean if a run of either side has none.
    Geometric,
    /// The mean of the costs, weighted by the factors of the runs of base and of new.
    Weighted([Vec<f64>; 2]),
}

impl Center {
    /// Returns the center for the functions of a comparison.
    pub(super) fn of_functions(matrix: &Matrix, noise: Noise, limits: &Limits) -> Self {
        let is_by_samples = noise == Noise::Sampled && matrix.counts.is_some() && !matrix.paired;
        match (noise, limits.test, &matrix.factors) {
            (Noise::Exact, ..) => Self::Mean,
            (_, Test::Ranks, _) => Self::Median,
            (_, _, Some(factors)) if is_by_samples => {
                let sizes: Vec<f64> = factors.iter().map(|factor| factor.exp()).collect();
                let (base, new) = sizes.split_at(matrix.costs.base.runs());
                Self::Weighted([base.to_vec(), new.to_vec()])
            }
            _ if is_by_samples => Self::Mean,
            _ => Self::Geometric,
        }
    }

    /// Returns the center for the totals of the runs, which are compared as measured costs.
    pub(super) fn of_total(noise: Noise, limits: &Limits) -> Self {
        match (noise, limits.test) {
            (Noise::Exact, _) => Self::Mean,
            (_, Test::Ranks) => Self::Median,
            _ => Self::Geometric,
        }
    }

    /// Returns the costs of base and new.
    pub(super) fn costs(&self, figures: [&[f64]; 2]) -> [f64; 2] {
        let are_above_zero = || {
            figures
                .iter()
                .all(|side| side.iter().all(|cost| *cost > 0.0))
        };
        match self {
            Self::Median => figures.map(median),
            Self::Geometric if are_above_zero() => times::centers(figures[0], figures[1]),
            Self::Mean | Self::Geometric => figures.map(mean),
            Self::Weighted(sizes) => {
                [0, 1].map(|side: usize| weighted_mean(figures[side], &sizes[side]))
            }
        }
    }
}

/// Returns new divided by base; `None` if one of them is not above 0. Costs that differ by a rounding error have the ratio 1.
pub(super) fn ratio([base, new]: [f64; 2]) -> Option<f64> {
    if change(base, new) == 0.0 && base != 0.0 {
        return Some(1.0);
    }
    Some(new / base).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}

fn weighted_mean(figures: &[f64], weights: &[f64]) -> f64 {
    if let [only] = figures {
        return *only;
    }
    let products = figures.iter().zip(weights);
    products.map(|(cost, weight)| cost * weight).sum::<f64>() / weights.iter().sum::<f64>()
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}
