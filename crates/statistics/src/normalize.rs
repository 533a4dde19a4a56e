//! Factors that make runs comparable, from the functions that have not changed.

use crate::factors::SizeFactors;
use crate::multiple::false_discovery_rates;
use crate::summary::mean;
use crate::{Estimate, Sides, counts, times};

/// A function whose false discovery rate is below this takes no part in the next round.
const CHANGED: f64 = 0.2;
/// Rounds of looking for the functions that have not changed.
const ROUNDS: usize = 4;
/// Greatest share of functions that may have changed.
const MOST_CHANGED: f64 = 0.3;
/// Mean count from which a function has the full weight.
const FULL_WEIGHT: f64 = 500.0;
/// Mean count from which a function takes part, if enough do.
const FEWEST: f64 = 20.0;
/// Mean count from which a function takes part if few have more.
const FEWEST_OF_FEW: f64 = 5.0;
/// How many functions are enough.
const ENOUGH: usize = 5;

/// The error that too many functions have changed to find the factors of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstable {
    /// Number of functions that differ.
    pub changed: usize,
    /// Number of functions that were tested.
    pub functions: usize,
}

/// Returns the natural logarithms of the size factors of counts, base first, for [`SizeFactors::Given`].
///
/// A factor is the weighted median of the deviations of a run's logarithms from the functions' means (median of ratios; Anders
/// and Huber 2010). Weights are the mean counts, at most 500. Functions that differ after division by the factors are left out of
/// the next round. If each side has one run, functions cannot be tested, and all take part.
///
/// # Errors
///
/// If too many functions differ.
pub fn factors_of_counts(sides: &Sides) -> Result<Vec<f64>, Unstable> {
    let at_least = |fewest: f64| -> Vec<Candidate> {
        rows(sides)
            .filter(|(_, counts)| mean(counts) >= fewest)
            .map(|(function, counts)| {
                Candidate::new(function, &counts, mean(&counts).min(FULL_WEIGHT))
            })
            .collect()
    };
    let mut candidates = at_least(FEWEST);
    if candidates.len() < ENOUGH {
        candidates = at_least(FEWEST_OF_FEW);
    }
    iterate(sides, &candidates, counts::test)
}

/// Returns the natural logarithms of the size factors of times, like [`factors_of_counts`]. Functions that are in all runs take
/// part, with equal weights.
///
/// # Errors
///
/// If too many functions differ.
pub fn factors_of_times(sides: &Sides) -> Result<Vec<f64>, Unstable> {
    let candidates: Vec<Candidate> = rows(sides)
        .filter(|(_, times)| times.iter().all(|&time| time > 0.0))
        .map(|(function, times)| Candidate::new(function, &times, 1.0))
        .collect();
    iterate(sides, &candidates, times::test)
}

/// The figures of each function in all runs.
fn rows(sides: &Sides) -> impl Iterator<Item = (usize, Vec<f64>)> {
    (0..sides.functions()).map(|function| {
        let figures = sides
            .base
            .row(function)
            .iter()
            .chain(sides.new.row(function));
        (function, figures.copied().collect())
    })
}

/// A function that may tell what runs have in common.
struct Candidate {
    function: usize,
    /// For each run, the logarithm of its figure less their mean.
    deviations: Vec<f64>,
    weight: f64,
}

impl Candidate {
    fn new(function: usize, figures: &[f64], weight: f64) -> Self {
        // A count of 0 has no logarithm, and lies below 1 by as much as it can be said to.
        let logs: Vec<f64> = figures.iter().map(|figure| figure.max(0.5).ln()).collect();
        let mean = mean(&logs);
        Candidate {
            function,
            deviations: logs.iter().map(|log| log - mean).collect(),
            weight,
        }
    }
}

fn iterate(
    sides: &Sides,
    candidates: &[Candidate],
    test: impl Fn(&Sides, &SizeFactors) -> Vec<Estimate>,
) -> Result<Vec<f64>, Unstable> {
    let functions = sides.functions();
    let runs = sides.base.runs() + sides.new.runs();
    let mut is_kept = vec![true; functions];
    let mut factors = vec![0.0; runs];
    for _ in 0..ROUNDS {
        let kept: Vec<&Candidate> = candidates
            .iter()
            .filter(|candidate| is_kept[candidate.function])
            .collect();
        if kept.is_empty() {
            break;
        }
        factors = (0..runs).map(|run| weighted_median(&kept, run)).collect();
        if runs == 2 {
            return Ok(factors);
        }
        let estimates = test(sides, &SizeFactors::Given(factors.clone()));
        let p: Vec<f64> = estimates.iter().map(|estimate| estimate.p).collect();
        let are_kept: Vec<bool> = false_discovery_rates(&p)
            .into_iter()
            .map(|rate| rate >= CHANGED)
            .collect();
        if are_kept == is_kept {
            break;
        }
        is_kept = are_kept;
    }
    let changed = is_kept.iter().filter(|&&is_kept| !is_kept).count();
    if changed as f64 > MOST_CHANGED * functions as f64 {
        return Err(Unstable { changed, functions });
    }
    Ok(factors)
}

/// The deviation that half of the weight is at or below.
fn weighted_median(candidates: &[&Candidate], run: usize) -> f64 {
    let mut deviations: Vec<(f64, f64)> = candidates
        .iter()
        .map(|candidate| (candidate.deviations[run], candidate.weight))
        .collect();
    deviations.sort_by(|left, right| left.0.total_cmp(&right.0));
    let half = deviations.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let reached = deviations.iter().find(|(_, weight)| {
        below += weight;
        below >= half
    });
    reached.or(deviations.last()).map_or(0.0, |found| found.0)
}
