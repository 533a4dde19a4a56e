//! What a series of figures is, and what is found in it.

use super::super::summary::{mean, median, squares};

/// Positions from which anything is said of a series that varies.
pub const FEWEST: usize = 8;

/// What was measured at one position of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The figure of a run there, in the unit of the metric: the median of the repeats, or their mean where they are sampled.
    pub value: f64,
    /// Runs at this position, at least 1.
    pub repeats: usize,
    /// Sum of squared deviations of the repeats' natural logarithms from their mean; 0 only where all repeats are equal.
    pub squares: f64,
    /// Samples behind the figures of all repeats together; 0 where they are not known.
    pub samples: f64,
}

impl Point {
    /// The position that was measured once.
    #[must_use]
    pub fn once(value: f64) -> Self {
        Self {
            value,
            repeats: 1,
            squares: 0.0,
            samples: 0.0,
        }
    }

    /// The position whose runs have these figures, of which none is below 0.
    ///
    /// # Panics
    ///
    /// Where there is no figure.
    #[must_use]
    pub fn of(figures: &[f64]) -> Self {
        Self {
            value: median(figures.to_vec()),
            repeats: figures.len(),
            squares: squares_of_logarithms(figures),
            samples: 0.0,
        }
    }

    /// The position whose runs have these figures, each with the number of samples behind it.
    ///
    /// # Panics
    ///
    /// Where there is no figure.
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

/// How figures vary where nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Not at all: everything is counted. Figures whose repeats differ, or that come and go, are taken as measured.
    Exact,
    /// They are measured, in whole multiples of `quantum`, in the unit of the metric; 0 where that is not known.
    Timed {
        /// The smallest difference that the profiler can measure.
        quantum: f64,
    },
    /// They are counted in samples, of which every [`Point`] has the number.
    Sampled,
}

/// What findings are held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Probability of a false step in a series, and that an interval misses.
    pub alpha: f64,
    /// The smallest change that matters, as a part of the cost: 0.05.
    pub min_effect: f64,
    /// Series that are searched together: what could have been seen is less where there are many.
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
    /// The first position of the new level, counted from 0: likeliest, among those that are possible.
    pub position: usize,
    /// The earliest position at which the new level may begin, with a confidence of 95 %.
    pub earliest: usize,
    /// The latest one.
    pub latest: usize,
    /// The level before, in the unit of the metric.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// Level after in levels before; `None` where one of them is 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` where there is none.
    pub interval: Option<(f64, f64)>,
    /// Probability of so clear a step anywhere in the series if nothing has changed; 0 of exact figures.
    pub p: f64,
    /// The first position at which the level is back where it was, or beyond; `None` of a step that stands.
    pub gone_at: Option<usize>,
}

/// A change that is spread over the whole series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The end of the series in terms of its beginning, by the line that fits best, steps taken out.
    pub ratio: f64,
    /// Interval of the ratio.
    pub interval: (f64, f64),
    /// Probability of so steep a line if nothing has changed; 0 of exact figures.
    pub p: f64,
    /// The changes that add up to it; `None` of figures that vary, of which it is a line.
    pub small: Option<Small>,
}

/// Changes of exact figures that are each too small to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Small {
    /// How many there are.
    pub changes: usize,
    /// The first position after the largest one, counted from 0.
    pub largest_at: usize,
    /// What the largest one makes of the figure.
    pub largest: f64,
}

/// What is found in a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Steps, in the order of their positions.
    pub steps: Vec<Step>,
    /// What changes all the time.
    pub drift: Option<Drift>,
    /// The smallest ratio that a step in the middle of this series would have been found with, four times of five; `None`
    /// where none would: the series is too short, or there is nothing in it.
    pub blind_below: Option<f64>,
}
