//! Is it change, or noise? Tests of two sets of runs, function by function.
//!
//! Everything here is arithmetic over matrices of figures: no database, no names. A row is a function, a column is a run.

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

pub(crate) use summary::{ROUNDING, change, is_above, mean};

use dispersion::Variance;
use distribution::{binomial_odds_interval, student_two_sided, student_upper_quantile};

/// The figures of one side: one row a function, one column a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    runs: usize,
    values: Vec<f64>,
}

impl Figures {
    /// `values` has the figures of the first function in all `runs`, then those of the second one, and so on.
    ///
    /// # Panics
    ///
    /// Where there is no run, or `values` is no whole number of rows.
    pub fn new(runs: usize, values: Vec<f64>) -> Self {
        assert!(
            runs > 0 && values.len().is_multiple_of(runs),
            "{} values of {runs} runs",
            values.len()
        );
        Figures { runs, values }
    }

    /// How many runs there are.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// How many functions there are.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.values.len() / self.runs
    }

    /// The figures of a function, one for each run.
    #[must_use]
    pub fn row(&self, function: usize) -> &[f64] {
        &self.values[function * self.runs..][..self.runs]
    }

    /// The figures with those of one more function after them.
    ///
    /// # Panics
    ///
    /// Where that has not a figure for each run.
    #[must_use]
    pub fn and(mut self, row: &[f64]) -> Self {
        assert_eq!(row.len(), self.runs, "a figure for each run");
        self.values.extend_from_slice(row);
        self
    }

    /// The figures of some functions.
    #[must_use]
    pub fn chosen(&self, functions: &[usize]) -> Self {
        let rows = functions.iter().flat_map(|function| self.row(*function));
        Figures::new(self.runs, rows.copied().collect())
    }
}

/// The figures of both sides, of the same functions in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// What is compared with.
    pub base: Figures,
    /// What is compared.
    pub new: Figures,
}

impl Sides {
    /// How many functions there are.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.base.functions()
    }

    /// The figures of some functions.
    #[must_use]
    pub fn chosen(&self, functions: &[usize]) -> Self {
        Sides {
            base: self.base.chosen(functions),
            new: self.new.chosen(functions),
        }
    }

    /// Degrees of freedom that are left when each side has its mean.
    fn df(&self) -> f64 {
        (self.base.runs + self.new.runs) as f64 - 2.0
    }
}

/// The ratio of a function's figures, new to base, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Natural logarithm of the ratio; infinite where one side is 0, 0 where both are.
    pub ln_ratio: f64,
    /// How many times as much the counts vary as independent samples would; 1 for what is not counted.
    pub dispersion: f64,
    /// Probability of a ratio as far from 1 as this one if nothing has changed.
    pub p: f64,
    /// What the interval is computed from.
    pub shape: Shape,
}

/// The distribution of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The logarithm of the ratio, in units of its standard error, is Student's.
    Student {
        /// The square of the standard error.
        variance: f64,
        /// Degrees of freedom.
        df: f64,
    },
    /// Counts of both sides; `odds` is the size of new to that of base.
    Binomial {
        /// Count of base.
        base: f64,
        /// Count of new.
        new: f64,
        /// Size of new in sizes of base.
        odds: f64,
    },
    /// An interval of order statistics.
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

    /// The same estimate, where the variance of the logarithm of the ratio is known to be at least this much.
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

    /// Interval of the ratio that misses the true one with probability `alpha`; from 0, to infinity where a side has nothing.
    ///
    /// The sides are the same but for `low..high` (two one-sided tests at `alpha`; Schuirmann 1987, "A comparison of the two
    /// one-sided tests procedure and the power approach") where the interval for `2 * alpha` is inside.
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

    /// Standard deviation of the logarithm of one run's figure, where the sides have `n0` and `n1` runs; infinite where it is
    /// unknown.
    pub fn deviation(&self, n0: usize, n1: usize) -> f64 {
        let (n0, n1) = (n0 as f64, n1 as f64);
        match self.shape {
            Shape::Student { variance, .. } => (variance / (1.0 / n0 + 1.0 / n1)).sqrt(),
            Shape::Binomial { base, new, .. } => ((n0 + n1) / (base + new)).sqrt(),
            Shape::Order { .. } => f64::INFINITY,
        }
    }
}
