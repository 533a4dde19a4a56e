//! The figures that are judged, and the limits that they are judged by.

use profdb_statistics::factors::SizeFactors;
use profdb_statistics::{Figures, Sides};

/// A test of two sets of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Test {
    /// The test that fits the metric.
    #[default]
    Fitting,
    /// The rank test of Mann and Whitney.
    Ranks,
}

/// The levels and limits of verdicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The false discovery rate, and the probability that an interval misses.
    pub alpha: f64,
    /// The smallest change that matters, as a part of the cost: 0.05.
    pub min_effect: f64,
    /// The smallest part of the runs' totals that a function must have to be judged, on average over all runs: 0.001.
    pub min_share: f64,
    /// The test.
    pub test: Test,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            min_effect: 0.05,
            min_share: 0.001,
            test: Test::Fitting,
        }
    }
}

/// The figures of two sets of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Costs in the unit of the metric.
    pub costs: Sides,
    /// The samples behind the costs, where they are known.
    pub counts: Option<Sides>,
    /// Totals of the runs of each side, in the unit of the metric.
    pub totals: [Vec<f64>; 2],
    /// Factors of the runs by which figures are divided (natural logarithms, base then new); `None` for figures as they are.
    pub factors: Option<Vec<f64>>,
    /// The factors were found from the costs themselves.
    pub are_factors_found: bool,
    /// One run of base and one of new make a round each, in their order.
    pub paired: bool,
    /// Functions that are tested whatever their share is.
    pub asked: Vec<usize>,
    /// Earlier runs, oldest first, which estimate the noise for 1 run against 1; `None` if there are too few.
    pub history: Option<History>,
}

impl Matrix {
    /// Returns the factors of the runs, times `power` as logarithms: 0 for figures that have been divided.
    pub(super) fn shared(&self, power: f64) -> SizeFactors {
        let Some(factors) = &self.factors else {
            return SizeFactors::Estimated;
        };
        let factors = factors.iter().map(|log| power * log).collect();
        if self.are_factors_found {
            SizeFactors::Found(factors)
        } else {
            SizeFactors::Given(factors)
        }
    }
}

/// Figures of earlier runs, of the same functions.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Costs in the unit of the metric.
    pub costs: Figures,
    /// The samples behind the costs, where they are known.
    pub counts: Option<Figures>,
    /// Totals, in the unit of the metric.
    pub totals: Vec<f64>,
}
