//! Tells changes from noise in repeated measurements of many functions of a program.
//!
//! Each function is measured in several runs of two versions of a program, the base and the new version. The figures of both sides are
//! matrices ([`Figures`], [`Sides`]): a row is a function, and a column is a run. The tests use what all functions have in common, because
//! each of them has few repeats:
//!
//! - [`times`] tests measured figures such as times, and [`counts`] tests counts of samples. Both return an [`Estimate`] of each ratio.
//! - [`dispersion`] moderates the variance of a function by the variances of the others.
//! - [`normalize`] finds the factors by which whole runs differ, for example the speed of the machine.
//! - [`few`], [`grain`], [`presence`] and [`ranks`] are for cases in which these tests do not hold: single runs, rounded figures, functions
//!   that are in one side only, and figures without a known distribution.
//! - [`multiple`] corrects probabilities for the number of tests, [`limits`] tests ratios against a limit, and [`repeats`] returns the number
//!   of runs that a change needs to be found.
//! - [`steps`] finds changes in a series of measurements, one for each commit or day.
//! - [`distribution`] has the probability distributions that the tests use.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of runs, functions and ranks are far below 2^53"
)]
#![expect(
    clippy::float_cmp,
    clippy::many_single_char_names,
    reason = "formulae of the literature, with its names; a series ends when nothing is added"
)]

pub mod counts;
pub mod dispersion;
pub mod distribution;
pub mod factors;
pub mod few;
pub mod grain;
pub mod limits;
pub mod multiple;
pub mod normalize;
pub mod presence;
pub mod ranks;
pub mod repeats;
pub mod steps;
mod summary;
pub mod times;

pub use summary::{ROUNDING, change, is_above, mean};

use dispersion::Variance;
use distribution::{binomial_odds_interval, student_two_sided, student_upper_quantile};

/// The figures of one side: one row for each function, one column for each run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    runs: usize,
    values: Vec<f64>,
}

impl Figures {
    /// Creates figures from the rows of all functions, one after the other, each with `runs` values.
    ///
    /// # Panics
    ///
    /// If `runs` is 0, or does not divide the number of values.
    pub fn new(runs: usize, values: Vec<f64>) -> Self {
        assert!(
            runs > 0 && values.len().is_multiple_of(runs),
            "{} values of {runs} runs",
            values.len()
        );
        Figures { runs, values }
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.values.len() / self.runs
    }

    /// Returns the figures of a function, one for each run.
    #[must_use]
    pub fn row(&self, function: usize) -> &[f64] {
        &self.values[function * self.runs..][..self.runs]
    }

    /// Returns the figures with one more function after the others.
    ///
    /// # Panics
    ///
    /// If `row` does not have one figure for each run.
    #[must_use]
    pub fn with_row(mut self, row: &[f64]) -> Self {
        assert_eq!(row.len(), self.runs, "a figure for each run");
        self.values.extend_from_slice(row);
        self
    }

    /// Returns the figures of the given functions, in the given order.
    #[must_use]
    pub fn select_rows(&self, functions: &[usize]) -> Self {
        let rows = functions.iter().flat_map(|function| self.row(*function));
        Figures::new(self.runs, rows.copied().collect())
    }
}

/// The figures of both sides. A function has the same row in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The figures to compare with.
    pub base: Figures,
    /// The figures to compare.
    pub new: Figures,
}

impl Sides {
    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.base.functions()
    }

    /// Returns the figures of the given functions, in the given order.
    #[must_use]
    pub fn select_rows(&self, functions: &[usize]) -> Self {
        Sides {
            base: self.base.select_rows(functions),
            new: self.new.select_rows(functions),
        }
    }

    /// Degrees of freedom that are left when each side has its mean.
    fn df(&self) -> f64 {
        (self.base.runs + self.new.runs) as f64 - 2.0
    }
}

/// An estimate of the ratio of a function's figures, new divided by base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Natural logarithm of the ratio; infinite if one side is 0, and 0 if both are.
    pub ln_ratio: f64,
    /// Variance of the counts divided by the variance of independent samples; 1 for figures that are not counts.
    pub dispersion: f64,
    /// Probability of a ratio at least as far from 1 if nothing has changed.
    pub p: f64,
    /// Distribution of the estimate, from which its interval is computed.
    pub shape: Shape,
}

/// The distribution of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Student's distribution of the logarithm of the ratio, in units of its standard error.
    Student {
        /// The square of the standard error.
        variance: f64,
        /// Degrees of freedom.
        df: f64,
    },
    /// The binomial distribution of the counts of both sides.
    Binomial {
        /// Count of base.
        base: f64,
        /// Count of new.
        new: f64,
        /// Size of new divided by the size of base.
        odds: f64,
    },
    /// An interval of order statistics, without a distribution.
    Order {
        /// Logarithm of its lower end.
        low: f64,
        /// Logarithm of its upper end.
        high: f64,
    },
}

impl Estimate {
    /// Of figures that are above 0 on both sides, and the variance of the logarithm of their ratio.
    fn student(ln_ratio: f64, variance: Variance, dispersion: f64) -> Self {
        // A variance of 0 tells any change from none, but not one of the last digit.
        let (ln_ratio, p) = if ln_ratio.abs() <= ROUNDING {
            (0.0, 1.0)
        } else {
            let t = ln_ratio / variance.value.sqrt();
            (ln_ratio, student_two_sided(t, variance.df))
        };
        Estimate {
            ln_ratio,
            dispersion,
            p,
            shape: Shape::Student {
                variance: variance.value,
                df: variance.df,
            },
        }
    }

    /// Returns the estimate with `least` as the minimum variance of the logarithm of the ratio.
    #[must_use]
    pub fn with_variance_of_at_least(self, least: f64) -> Self {
        match self.shape {
            Shape::Student { variance, df } if variance < least && self.ln_ratio.is_finite() => {
                let variance = Variance { value: least, df };
                Estimate::student(self.ln_ratio, variance, self.dispersion)
            }
            _ => self,
        }
    }

    /// Returns the interval of the ratio that misses the true ratio with probability `alpha`. It begins at 0 or ends at infinity
    /// if a side has no figures above 0.
    ///
    /// The sides are equal up to the range `low..high` if the interval for `2 * alpha` is inside this range (two one-sided tests
    /// at `alpha`; Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach").
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        match self.shape {
            Shape::Student { .. } if self.ln_ratio.is_infinite() => (0.0, f64::INFINITY),
            Shape::Student { variance, df } => {
                let reach = student_upper_quantile(alpha / 2.0, df) * variance.sqrt();
                ((self.ln_ratio - reach).exp(), (self.ln_ratio + reach).exp())
            }
            Shape::Binomial { base, new, odds } => {
                let (low, high) = binomial_odds_interval(new, base + new, alpha);
                (low / odds, high / odds)
            }
            Shape::Order { low, high } => (low.exp(), high.exp()),
        }
    }

    /// Returns the standard deviation of the logarithm of one run's figure, if the sides have `n0` and `n1` runs; infinite if it
    /// is not known.
    pub fn deviation(&self, n0: usize, n1: usize) -> f64 {
        let (n0, n1) = (n0 as f64, n1 as f64);
        match self.shape {
            Shape::Student { variance, .. } => (variance / (1.0 / n0 + 1.0 / n1)).sqrt(),
            Shape::Binomial { base, new, .. } => ((n0 + n1) / (base + new)).sqrt(),
            Shape::Order { .. } => f64::INFINITY,
        }
    }
}
