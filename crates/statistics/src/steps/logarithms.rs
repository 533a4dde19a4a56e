//! Logarithms of figures, in which equal ratios are equal distances.

use super::series::{Kind, Point, smallest};
use crate::summary::median;

/// The logarithms of a series.
#[derive(Clone, Debug)]
pub(super) struct Logarithms {
    /// One for each position.
    pub(super) values: Vec<f64>,
    /// The variance of each, in units of that of a usual one.
    pub(super) variances: Vec<f64>,
    /// What was added to figures before their logarithm was taken, so that 0 has one.
    offset: f64,
    /// Variance that chance or the clock's resolution gives to each at least.
    pub(super) floor: f64,
}

impl Logarithms {
    /// Of a series with a figure above 0.
    pub(super) fn of(points: &[Point], kind: Kind) -> Self {
        let n = points.len() as f64;
        let mean = points.iter().map(|point| point.value).sum::<f64>() / n;
        let samples: f64 = points.iter().map(|point| point.samples).sum();
        let (offset, least, floor) = match kind {
            Kind::Sampled if samples > 0.0 => {
                let cost = |point: &Point| point.value * point.repeats as f64;
                let quantum = points.iter().map(cost).sum::<f64>() / samples;
                // Of less than one sample in twenty positions nothing can be said; the variance must stay a number.
                (quantum / 2.0, 0.0, 1.0 / (samples / n).max(0.05))
            }
            Kind::Timed { quantum } => (0.0, absent(points), (quantum / mean).powi(2)),
            Kind::Sampled | Kind::Exact => (0.0, absent(points), 0.0),
        };
        Self {
            values: points
                .iter()
                .map(|point| (point.value + offset).max(least).ln())
                .collect(),
            variances: vec![1.0; points.len()],
            offset,
            floor,
        }
        .weighted(points)
    }

    /// Gives a position the variance that its number of repeats leaves it: what repeats share, the machine's state that day, no
    /// number of them takes away.
    fn weighted(mut self, points: &[Point]) -> Self {
        let freedom: usize = points.iter().map(|point| point.repeats - 1).sum();
        if points
            .iter()
            .all(|point| point.repeats == points[0].repeats)
            || freedom == 0
        {
            return self;
        }
        let within = points.iter().map(|point| point.squares).sum::<f64>() / freedom as f64;
        let parts: Vec<f64> = points
            .iter()
            .map(|point| within / point.repeats as f64)
            .collect();
        // The variance of differences is twice what positions do not share, and what repeats leave of that within.
        let excess = self
            .values
            .windows(2)
            .zip(parts.windows(2))
            .map(|(pair, parts)| {
                let square = (pair[1] - pair[0]).powi(2) / MEDIAN_OF_SQUARES;
                (square - parts[0] - parts[1]) / 2.0
            })
            .collect();
        let between = median(excess).max(0.0);
        if between + within > 0.0 {
            let usual = between + median(parts.clone());
            self.variances = parts.iter().map(|part| (between + part) / usual).collect();
        }
        self
    }

    /// The weights of the positions: inverse variances.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.variances
            .iter()
            .map(|variance| 1.0 / variance)
            .collect()
    }

    /// The figure with this logarithm.
    pub(super) fn figure(&self, logarithm: f64) -> f64 {
        (logarithm.exp() - self.offset).max(0.0)
    }
}

/// The median of the square of a normal value, in units of its variance.
const MEDIAN_OF_SQUARES: f64 = 0.454_936;

/// What stands for a figure of 0 that is measured: much less than any that is not 0, so that a function that is new, or gone, stands
/// out of how much it varies otherwise.
fn absent(points: &[Point]) -> f64 {
    smallest(points.iter().map(|point| point.value)) / ABSENT
}

/// The smallest figure in units of what stands for none.
const ABSENT: f64 = 16.0;
