//! The test of measured metrics, such as times, whose logarithms vary.
//!
//! Means of logarithms are compared with Student's distribution. The variance is moderated over functions as in [`crate::counts`],
//! after the factor that all functions of a run share has been removed. The variance of this factor is added without moderation.
//!
//! A time of 0 has no logarithm: the function is not in that run. If the function is in some runs of both sides, a time of 0 counts as
//! half of its smallest time. Such a function keeps its own variance, and does not influence the variance of others. If a side has no run
//! with the function, the ratio is not known, and the probability is 1: [`crate::presence`] tests new functions and removed functions.

use crate::dispersion::{Moderation, Variance};
use crate::factors::{
    SizeFactors, TELL_SHARED, middle_deviations, squares_of_sides, successive_df,
    successive_variance, variance_of_factor,
};
use crate::summary::{ln_ratio, mean, squares, unrounded};
use crate::{Estimate, Figures, Sides};

/// Repeats on either side from which a side's own variance tells anything.
const TELLS_SIDE: usize = 5;
/// Ratio of the sides' variances above which they are not pooled.
const UNLIKE: f64 = 4.0;

/// Tests each function of `sides`, whose figures are times.
///
/// # Panics
///
/// If each side has one run: the variance of times must then come from a history ([`test_with_history`]).
pub fn test(sides: &Sides, shared: &SizeFactors) -> Vec<Estimate> {
    let df = sides.df();
    assert!(df > 0.0, "one run on either side has no variance");
    let (runs0, runs1) = (sides.base.runs(), sides.new.runs());
    let (n0, n1) = (runs0 as f64, runs1 as f64);
    let rows: Vec<Row> = (0..sides.functions())
        .map(|function| {
            Row::new(
                sides
                    .base
                    .row(function)
                    .iter()
                    .chain(sides.new.row(function)),
            )
        })
        .collect();
    let factors = match shared {
        SizeFactors::Estimated => common_factors(&rows, runs0 + runs1),
        SizeFactors::Given(factors) | SizeFactors::Found(factors) => factors.clone(),
    };
    let residuals: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| {
            let centred = row.less(&factors);
            let (base, new) = centred.split_at(runs0);
            (squares(base), squares(new))
        })
        .collect();
    let pooled = |(base, new): &(f64, f64)| unrounded((base + new) / df);
    let moderation = moderation(&rows, residuals.iter().map(pooled), df);
    let own = rows.iter().zip(&residuals).map(|(row, residual)| {
        let is_unlike = runs0.min(runs1) >= TELLS_SIDE;
        if let Some(own) = unlike(residual, n0, n1).filter(|_| is_unlike) {
            return own;
        }
        row.variance(&moderation, pooled(residual), df)
            .times(1.0 / n0 + 1.0 / n1)
    });
    let run = match shared {
        SizeFactors::Estimated => squares_of_sides(&factors, runs0) / df,
        SizeFactors::Given(_) => 0.0,
        SizeFactors::Found(_) => {
            let pairs = rows.iter().zip(&residuals);
            let complete = pairs.filter(|(row, _)| row.seen == Seen::Always);
            variance_of_factor(complete.map(|(_, residual)| pooled(residual)).collect())
        }
    };
    let run = Variance {
        value: run * (1.0 / n0 + 1.0 / n1),
        df,
    };
    estimates(sides, shared, run, own)
}

/// Tests each function of `sides`, which may have one run each, with the variance of a history. The history has times of the same
/// functions, one run for each earlier position or day, oldest first, and no run of `sides`.
///
/// Variances are computed from successive differences, so that a change in the history does not count as noise. They are
/// moderated as in [`test()`].
///
/// # Panics
///
/// If the history has fewer than two runs; it should have five or more.
pub fn test_with_history(history: &Figures, sides: &Sides, shared: &SizeFactors) -> Vec<Estimate> {
    assert!(history.runs() > 1, "one run has no variance");
    let pairs = 1.0 / sides.base.runs() as f64 + 1.0 / sides.new.runs() as f64;
    let df = successive_df(history.runs());
    let rows: Vec<Row> = (0..history.functions())
        .map(|function| Row::new(history.row(function).iter()))
        .collect();
    let factors = match shared {
        SizeFactors::Given(_) | SizeFactors::Found(_) if rows.len() < TELL_SHARED => {
            vec![0.0; history.runs()]
        }
        _ => common_factors(&rows, history.runs()),
    };
    let variances: Vec<f64> = rows
        .iter()
        .map(|row| unrounded(successive_variance(row.less(&factors).into_iter())))
        .collect();
    let moderation = moderation(&rows, variances.iter().copied(), df);
    let own = rows
        .iter()
        .zip(&variances)
        .map(|(row, &variance)| row.variance(&moderation, variance, df).times(pairs));
    let run = match shared {
        SizeFactors::Estimated => successive_variance(factors.iter().copied()),
        SizeFactors::Given(_) | SizeFactors::Found(_) => 0.0,
    };
    let run = Variance {
        value: run * pairs,
        df,
    };
    estimates(sides, shared, run, own)
}

/// Tests each function by the paired test: the logarithms of its ratios, one for each round, are compared with 0.
///
/// `ratios` has a row for each function and a column for each round.
///
/// # Panics
///
/// If there are fewer than two rounds.
pub fn test_pairs(ratios: &Figures) -> Vec<Estimate> {
    assert!(ratios.runs() > 1, "one round has no variance");
    let n = ratios.runs() as f64;
    let df = n - 1.0;
    let rows: Vec<Row> = (0..ratios.functions())
        .map(|function| Row {
            logs: ratios.row(function).to_vec(),
            seen: Seen::Always,
        })
        .collect();
    // What all functions of a round share: its variance is that of the rounds' medians.
    let factors = common_factors(&rows, ratios.runs());
    let variances: Vec<f64> = rows
        .iter()
        .map(|row| unrounded(squares(&row.less(&factors)) / df))
        .collect();
    let moderation = moderation(&rows, variances.iter().copied(), df);
    let run = Variance {
        value: squares(&factors) / df / n,
        df,
    };
    rows.iter()
        .zip(&variances)
        .map(|(row, &variance)| {
            let own = row.variance(&moderation, variance, df).times(1.0 / n);
            Estimate::student(mean(&row.logs), own.plus(run), 1.0)
        })
        .collect()
}

/// The ratios of the sides' means, from the variance of each function and that of what all functions of a run share.
fn estimates(
    sides: &Sides,
    shared: &SizeFactors,
    run: Variance,
    own: impl Iterator<Item = Variance>,
) -> Vec<Estimate> {
    let runs0 = sides.base.runs();
    let offset = match shared {
        SizeFactors::Estimated => 0.0,
        SizeFactors::Given(factors) | SizeFactors::Found(factors) => {
            let (base, new) = factors.split_at(runs0);
            mean(new) - mean(base)
        }
    };
    own.enumerate()
        .map(|(function, own)| {
            let (base, new) = (sides.base.row(function), sides.new.row(function));
            let is_in = |times: &[f64]| times.iter().any(|&time| time > 0.0);
            let variance = own.plus(run);
            if is_in(base) && is_in(new) {
                let row = Row::new(base.iter().chain(new));
                let (base, new) = row.logs.split_at(runs0);
                return Estimate::student(mean(new) - mean(base) - offset, variance, 1.0);
            }
            Estimate {
                ln_ratio: ln_ratio(mean(base), mean(new)),
                p: 1.0,
                ..Estimate::student(0.0, variance, 1.0)
            }
        })
        .collect()
}

/// Returns the geometric means of the times of both sides, whose quotient is the ratio that a test estimates. A time of 0 counts as
/// half of the smallest time of both sides. The mean of equal times is the time itself, to the last digit.
///
/// # Panics
///
/// If a side has no time.
#[must_use]
pub fn centers(base: &[f64], new: &[f64]) -> [f64; 2] {
    let above_zero = base.iter().chain(new).filter(|time| **time > 0.0);
    let least = above_zero.fold(f64::INFINITY, |least, time| least.min(*time)) / 2.0;
    [base, new].map(|times| {
        let first = times[0].max(least);
        let logarithms: Vec<f64> = times
            .iter()
            .map(|time| (time.max(least) / first).ln())
            .collect();
        first * mean(&logarithms).exp()
    })
}

/// Logarithms of the times of one function.
struct Row {
    logs: Vec<f64>,
    seen: Seen,
}

/// In which runs a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Always,
    Sometimes,
    Never,
}

impl Row {
    fn new<'times>(times: impl Iterator<Item = &'times f64> + Clone) -> Self {
        let smallest = times
            .clone()
            .copied()
            .filter(|&time| time > 0.0)
            .fold(f64::INFINITY, f64::min);
        if smallest.is_infinite() {
            return Row {
                logs: vec![0.0; times.count()],
                seen: Seen::Never,
            };
        }
        let seen = if times.clone().all(|&time| time > 0.0) {
            Seen::Always
        } else {
            Seen::Sometimes
        };
        Row {
            logs: times.map(|time| time.max(smallest / 2.0).ln()).collect(),
            seen,
        }
    }

    /// The logarithms, each divided by its run's factor.
    fn less(&self, factors: &[f64]) -> Vec<f64> {
        let pairs = self.logs.iter().zip(factors);
        pairs.map(|(log, factor)| log - factor).collect()
    }

    /// What is known of the variance of a function whose own estimate is `variance`: nothing of one that is in no run, where
    /// functions have nothing in common.
    fn variance(&self, moderation: &Moderation, variance: f64, df: f64) -> Variance {
        match self.seen {
            Seen::Always => moderation.moderate(variance),
            Seen::Sometimes => Variance {
                value: variance,
                df,
            },
            Seen::Never => moderation.typical_variance().unwrap_or(Variance {
                value: f64::INFINITY,
                df,
            }),
        }
    }
}

/// What the functions that are in all runs have in common.
fn moderation(rows: &[Row], variances: impl Iterator<Item = f64>, df: f64) -> Moderation {
    let told: Vec<f64> = rows
        .iter()
        .zip(variances)
        .filter(|(row, _)| row.seen == Seen::Always)
        .map(|(_, variance)| variance)
        .collect();
    Moderation::fit(&told, df)
}

/// The factors of the runs, from the functions that are in all of them.
fn common_factors(rows: &[Row], runs: usize) -> Vec<f64> {
    let told: Vec<Vec<f64>> = rows
        .iter()
        .filter(|row| row.seen == Seen::Always)
        .map(|row| row.logs.clone())
        .collect();
    middle_deviations(&told).unwrap_or_else(|| vec![0.0; runs])
}

/// The variance of the difference of the sides' means, with the degrees of freedom of Welch (1947), "The generalization of
/// Student's problem when several different population variances are involved", where the sides' own variances differ much.
fn unlike(&(squares0, squares1): &(f64, f64), n0: f64, n1: f64) -> Option<Variance> {
    let of_mean = |squares: f64, n: f64| Variance {
        value: squares / (n - 1.0) / n,
        df: n - 1.0,
    };
    let (variance0, variance1) = (squares0 / (n0 - 1.0), squares1 / (n1 - 1.0));
    let differ = variance0 > UNLIKE * variance1 || variance1 > UNLIKE * variance0;
    differ.then(|| of_mean(squares0, n0).plus(of_mean(squares1, n1)))
}
