//! One-sided tests of a ratio or a level against a limit, and the smallest change that they detect.

use crate::dispersion::Variance;
use crate::distribution::{
    binomial_at_least, normal_upper_quantile, student_two_sided, student_upper_quantile,
};
use crate::factors::SizeFactors;
use crate::summary::{ROUNDING, mean, squares, unrounded};
use crate::{Estimate, Figures, Shape, Sides, times};

/// Probability that a test finds a change of the detectable size.
const POWER: f64 = 0.8;

/// Steps in which the smallest change that small counts would show is approached.
const STEPS: usize = 50;

impl Estimate {
    /// Returns the probability of a ratio at least as large if the true ratio is at most the limit, which is given as its natural
    /// logarithm.
    #[must_use]
    pub fn p_above(&self, ln_limit: f64) -> f64 {
        match self.shape {
            Shape::Student { .. } if self.ln_ratio == f64::INFINITY => 1.0,
            Shape::Student { variance, df } => {
                let over = self.ln_ratio - ln_limit;
                // A variance of 0 tells any excess from none, but not one of the last digit.
                if over.abs() <= ROUNDING || over.is_nan() {
                    return 1.0;
                }
                let both = student_two_sided(over / variance.sqrt(), df) / 2.0;
                if over > 0.0 { both } else { 1.0 - both }
            }
            Shape::Binomial { base, new, odds } => {
                let odds = odds * ln_limit.exp();
                binomial_at_least(new, base + new, odds / (1.0 + odds))
            }
            Shape::Order { low, .. } => {
                if low > ln_limit {
                    0.0
                } else {
                    1.0
                }
            }
        }
    }

    /// Returns the natural logarithm of the upper end of the one-sided interval that misses the true ratio with probability
    /// `alpha`.
    #[must_use]
    pub fn ln_upper_bound(&self, alpha: f64) -> f64 {
        self.interval(2.0 * alpha).1.ln()
    }

    /// Returns the natural logarithm of the smallest true ratio that a test at `level` finds to be above the limit in four of
    /// five cases; `None` if it is not known.
    #[must_use]
    pub fn ln_detectable(&self, ln_limit: f64, level: f64) -> Option<f64> {
        let reach =
            |df: f64| student_upper_quantile(level, df) + student_upper_quantile(1.0 - POWER, df);
        let found = match self.shape {
            Shape::Student { variance, df } => ln_limit + reach(df) * variance.sqrt(),
            Shape::Binomial { base, odds, .. } if base > 0.0 => {
                let reach = normal_upper_quantile(level) + normal_upper_quantile(1.0 - POWER);
                (0..STEPS).fold(ln_limit, |ln_ratio, _| {
                    let new = base * odds * ln_ratio.exp();
                    ln_limit + reach * (1.0 / base + 1.0 / new).sqrt()
                })
            }
            Shape::Binomial { .. } | Shape::Order { .. } => return None,
        };
        Some(found).filter(|found| found.is_finite())
    }
}

/// Returns whether the means of two sets of figures differ by less than `most`, by two one-sided tests at `alpha`. Single figures
/// have no known noise, and are compared as they are.
#[must_use]
pub fn are_equal_within(base: &[f64], new: &[f64], most: f64, alpha: f64) -> bool {
    let (n0, n1) = (base.len() as f64, new.len() as f64);
    let difference = (mean(new) - mean(base)).abs();
    let df = n0 + n1 - 2.0;
    if df < 1.0 {
        return difference < most;
    }
    let variance = (squares(base) + squares(new)) / df * (1.0 / n0 + 1.0 / n1);
    difference + student_upper_quantile(alpha, df) * variance.sqrt() < most
}

/// Estimates the ratio of two sets of figures from their own variance. Returns `None` if there is no variance, which needs two
/// figures on a side, or if a side has no figure above 0.
#[must_use]
pub fn ratio(base: &[f64], new: &[f64]) -> Option<Estimate> {
    let is_there = |figures: &[f64]| figures.iter().any(|figure| *figure > 0.0);
    if base.len() + new.len() < 3 || !is_there(base) || !is_there(new) {
        return None;
    }
    let sides = Sides {
        base: Figures::new(base.len(), base.to_vec()),
        new: Figures::new(new.len(), new.to_vec()),
    };
    let shared = SizeFactors::Given(vec![0.0; base.len() + new.len()]);
    times::test(&sides, &shared).pop()
}

/// Estimates the level of the figures of `new`, as a ratio to 1, with the variance of the figures of `base`. Returns `None` if
/// there is no variance, or if a figure is 0, which has no logarithm.
#[must_use]
pub fn level(base: &[f64], new: &[f64]) -> Option<Estimate> {
    let logs = |figures: &[f64]| -> Option<Vec<f64>> {
        let are_there = figures.iter().all(|figure| *figure > 0.0);
        are_there.then(|| figures.iter().map(|figure| figure.ln()).collect())
    };
    let new = logs(new).filter(|new| !new.is_empty())?;
    let base = logs(base).filter(|base| base.len() > 1);
    let squares_of = |logs: &[f64]| unrounded(squares(logs));
    let (mut sum, mut df) = (squares_of(&new), new.len() as f64 - 1.0);
    if let Some(base) = base {
        sum += squares_of(&base);
        df += base.len() as f64 - 1.0;
    }
    if df < 1.0 {
        return None;
    }
    let variance = Variance {
        value: sum / df / new.len() as f64,
        df,
    };
    Some(Estimate::student(mean(&new), variance, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9),
            "{found} is not {expected}"
        );
    }

    /// What `scipy.stats.t.sf(t, df)` gives, and `scipy.stats.binom.sf`.
    #[test]
    fn tests_are_one_sided() {
        let student = |ln_ratio: f64| Estimate {
            ln_ratio,
            dispersion: 1.0,
            p: 1.0,
            shape: Shape::Student {
                variance: 0.0004,
                df: 11.0,
            },
        };
        let limit = 1.05_f64.ln();
        close(
            student(limit + 0.04).p_above(limit),
            0.035_401_977_534_017_29,
        );
        close(
            student(limit - 0.04).p_above(limit),
            1.0 - 0.035_401_977_534_017_29,
        );
        close(student(limit).p_above(limit), 1.0);
        let counts = Estimate {
            ln_ratio: 1.0,
            dispersion: 1.0,
            p: 1.0,
            shape: Shape::Binomial {
                base: 3.0,
                new: 9.0,
                odds: 1.0,
            },
        };
        // binom.sf(8, 12, 0.5) and, at a limit of twice as much, binom.sf(8, 12, 2 / 3).
        close(counts.p_above(0.0), 0.072_998_046_875);
        close(counts.p_above(2.0_f64.ln()), 0.393_074_678_092_205_2);
    }

    #[test]
    fn what_is_found_in_four_of_five_cases_is_above_the_limit() {
        let of = ratio(&[100.0, 104.0, 97.0, 101.0], &[103.0, 99.0, 102.0]).expect("it varies");
        let limit = 1.05_f64.ln();
        let [narrow, wide] = [0.01, 0.000_01].map(|level| of.ln_detectable(limit, level));
        let (narrow, wide) = (narrow.expect("known"), wide.expect("known"));
        assert!(limit < narrow && narrow < wide, "{limit} {narrow} {wide}");
        assert!(ratio(&[1.0], &[2.0]).is_none());
        assert!(ratio(&[0.0, 0.0], &[2.0, 2.0]).is_none());
    }

    /// The upper end of the one-sided interval of the difference, by `scipy.stats.t.ppf(0.95, 4)`: 0.2 + 2.1318 * 0.8165.
    #[test]
    fn means_are_equal_where_both_ends_are_within() {
        let (base, new) = ([9.0, 10.0, 11.0], [9.2, 10.2, 11.2]);
        assert!(!are_equal_within(&base, &new, 1.940_6, 0.05));
        assert!(are_equal_within(&base, &new, 1.940_7, 0.05));
        assert!(are_equal_within(&new, &base, 1.940_7, 0.05));
        assert!(are_equal_within(&[10.0], &[10.5], 0.6, 0.05));
        assert!(!are_equal_within(&[10.0], &[10.5], 0.4, 0.05));
    }

    #[test]
    fn a_level_varies_as_both_sides_do() {
        let alone = level(&[], &[9.0, 10.0, 11.0]).expect("three figures vary");
        let Shape::Student { df, .. } = alone.shape else {
            panic!("logarithms are Student's");
        };
        close(df, 2.0);
        let beside = level(&[7.0, 8.0, 9.0], &[10.0]).expect("base varies");
        let Shape::Student { df, .. } = beside.shape else {
            panic!("logarithms are Student's");
        };
        close(df, 2.0);
        close(beside.ln_ratio, 10.0_f64.ln());
        assert!(level(&[], &[10.0]).is_none());
        assert!(level(&[1.0, 2.0], &[10.0, 0.0]).is_none());
    }
}
