//! The points of a series, and the changes that are found in it.

use crate::summary::{mean, median, squares};

/// Minimum number of positions of a series that varies. Shorter series have no findings.
pub const MIN_POSITIONS: usize = 8;

/// The measurement at one position of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The figure of a run, in the unit of the metric: the median of the repeats, or the mean of sampled repeats.
    pub value: f64,
    /// Number of runs at this position, at least 1.
    pub repeats: usize,
    /// Sum of squared deviations of the repeats' natural logarithms from their mean; 0 only if all repeats are equal.
    pub squares: f64,
    /// Number of samples of all repeats together; 0 if it is not known.
    pub samples: f64,
}

impl Point {
    /// Creates a position with one run.
    #[must_use]
    pub fn once(value: f64) -> Self {
        Self {
            value,
            repeats: 1,
            squares: 0.0,
            samples: 0.0,
        }
    }

    /// Creates a position whose runs have the given figures, none of them below 0.
    ///
    /// # Panics
    ///
    /// If there are no figures.
    #[must_use]
    pub fn new(figures: &[f64]) -> Self {
        Self {
            value: median(figures.to_vec()),
            repeats: figures.len(),
            squares: squares_of_logarithms(figures),
            samples: 0.0,
        }
    }

    /// Creates a position whose runs have the given figures and numbers of samples.
    ///
    /// # Panics
    ///
    /// If there are no figures.
    #[must_use]
    pub fn sampled(figures: &[f64], samples: &[f64]) -> Self {
        Self {
            value: mean(figures),
            repeats: figures.len(),
            squares: squares_of_logarithms(figures),
            samples: samples.iter().sum(),
        }
    }
}

/// Sum of squares of the logarithms about their mean. A figure of 0 counts as half of the smallest one above 0.
fn squares_of_logarithms(figures: &[f64]) -> f64 {
    if figures
        .iter()
        .all(|figure| figure.to_bits() == figures[0].to_bits())
    {
        return 0.0;
    }
    let smallest = smallest(figures.iter().copied());
    let logarithms: Vec<f64> = figures
        .iter()
        .map(|figure| figure.max(smallest / 2.0).ln())
        .collect();
    squares(&logarithms).max(f64::MIN_POSITIVE)
}

/// The smallest figure above 0; infinite where there is none.
pub(super) fn smallest(figures: impl Iterator<Item = f64>) -> f64 {
    figures
        .filter(|figure| *figure > 0.0)
        .fold(f64::INFINITY, f64::min)
}

/// The noise of figures while the program does not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// No noise: everything is counted. Figures whose repeats differ, or that come and go, are treated as measured.
    Exact,
    /// Noise of measurements, in whole multiples of `quantum`, in the unit of the metric; 0 if it is not known.
    Timed {
        /// The smallest difference that the profiler can measure.
        quantum: f64,
    },
    /// Noise of counts of samples. Every [`Point`] has its number of samples.
    Sampled,
}

/// The limits that findings must satisfy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Probability of a false step in a series, and of an interval that misses the true value.
    pub alpha: f64,
    /// Minimum change that matters, as a part of the cost, for example 0.05.
    pub min_effect: f64,
    /// Number of series that are searched together. A change must be larger to be found among many.
    pub tests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            min_effect: 0.05,
            tests: 1,
        }
    }
}

impl Limits {
    /// Natural logarithm of the smallest ratio that matters.
    pub(super) fn least(&self) -> f64 {
        self.min_effect.ln_1p()
    }
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The most likely first position of the new level, counted from 0.
    pub position: usize,
    /// The earliest position at which the new level may begin, with a confidence of 95 %.
    pub earliest: usize,
    /// The latest position at which the new level may begin, with a confidence of 95 %.
    pub latest: usize,
    /// The level before the step, in the unit of the metric.
    pub before: f64,
    /// The level after the step, in the unit of the metric.
    pub after: f64,
    /// Level after divided by level before; `None` if one of them is 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` if it is not known.
    pub interval: Option<(f64, f64)>,
    /// Probability of a step at least as clear anywhere in the series if nothing has changed; 0 for exact figures.
    pub p: f64,
    /// The first position at which the level has returned, or has gone beyond; `None` if the step persists.
    pub gone_at: Option<usize>,
}

/// A change that is spread over the whole series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The figure at the first position, on the line with the best fit.
    pub before: f64,
    /// The figure at the last position, on this line without the steps.
    pub after: f64,
    /// End of the series divided by its beginning, by the line with the best fit, without the steps.
    pub ratio: f64,
    /// Interval of the ratio.
    pub interval: (f64, f64),
    /// Probability of a line at least as steep if nothing has changed; 0 for exact figures.
    pub p: f64,
    /// The changes that add up to the drift of exact figures; `None` if figures vary.
    pub small: Option<SmallChanges>,
}

/// Changes of exact figures that are each too small to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallChanges {
    /// Number of changes.
    pub changes: usize,
    /// The first position after the largest change, counted from 0.
    pub largest_at: usize,
    /// Figure after the largest change divided by the figure before it.
    pub largest: f64,
}

/// The changes that are found in a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The steps, in the order of their positions.
    pub steps: Vec<Step>,
    /// The change that is spread over the whole series.
    pub drift: Option<Drift>,
    /// The smallest ratio of a step in the middle of this series that is found in four of five cases; `None` if the series is too
    /// short or has no figures above 0.
    pub blind_below: Option<f64>,
}
