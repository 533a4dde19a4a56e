//! Factors that make runs comparable, from the functions that have not changed.

use crate::factors::SizeFactors;
use crate::multiple::false_discovery_rates;
use crate::summary::{mean, median};
use crate::{Estimate, Figures, Sides, counts, times};

/// Threshold of the false discovery rate, below which a function takes no part in the next round.
const MAY_HAVE_CHANGED: f64 = 0.2;
/// Threshold of the false discovery rate, below which a function has changed.
const HAS_CHANGED: f64 = 0.05;
/// Maximum number of rounds of looking for the functions that have not changed.
const ROUNDS: usize = 4;
/// Maximum part of the weight that may have changed.
const MOST_CHANGED: f64 = 0.5;
/// Minimum count from which a function has the full weight.
const FULL_WEIGHT: f64 = 500.0;
/// Maximum weight of a function of measured figures, as a part of the cost of all functions.
const FULL_SHARE: f64 = 0.05;
/// Minimum mean count of a function that takes part, if enough do.
const FEWEST: f64 = 20.0;
/// Minimum mean count of a function that takes part, if few have more.
const FEWEST_OF_FEW: f64 = 5.0;
/// Number of functions that are enough.
const ENOUGH: usize = 5;
/// Minimum number of runs of a part of a series.
const FEWEST_OF_PART: usize = 3;
/// Maximum number of positions of a series at which functions are tested, about.
const MOST_POSITIONS: usize = 32;
/// Minimum number of functions that have something in common.
pub const FEWEST_IN_COMMON: usize = 3;
/// Minimum ratio of the factors of two runs that is worth a division.
const LEAST_MOVEMENT: f64 = 1.1;
/// Minimum ratio of a function of a series that has changed.
const LEAST_CHANGE: f64 = 1.05;
/// Maximum part of the spread that is left where functions move together.
const LEFT: f64 = 0.5;

/// The error that too many functions have changed to find the factors of the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unstable {
    /// Part of the weight that has changed.
    pub changed: f64,
}

/// Returns the natural logarithms of the size factors of counts, base first, for [`SizeFactors::Given`].
///
/// A factor is the weighted median of the deviations of a run's logarithms from the functions' means (median of ratios; Anders
/// and Huber 2010). Weights are the mean counts, at most 500. The first round has the half of the weight whose ratios are closest to
/// each other; later rounds have the functions that do not differ after division by the factors. If each side has one run, functions
/// cannot be tested, and all take part.
///
/// # Errors
///
/// If more than half of the weight differs.
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
/// part, with their costs as weights.
///
/// # Errors
///
/// If more than half of the weight differs.
pub fn factors_of_times(sides: &Sides) -> Result<Vec<f64>, Unstable> {
    iterate(sides, &by_cost(rows(sides)), times::test)
}

/// Returns the largest ratio of the factors of two runs, if most of the cost moves together: without the factors, at most half of
/// the spread of the logarithms is left. Returns `None` if functions vary by themselves, or if too few are in all runs.
#[must_use]
pub fn common_movement(sides: &Sides) -> Option<f64> {
    let candidates = by_cost(rows(sides));
    if candidates.len() < FEWEST_IN_COMMON {
        return None;
    }
    let all: Vec<&Candidate> = candidates.iter().collect();
    let runs = sides.base.runs() + sides.new.runs();
    let factors: Vec<f64> = (0..runs).map(|run| weighted_median(&all, run)).collect();
    let spread = |factors: &[f64]| -> f64 {
        let of = |candidate: &Candidate| -> f64 {
            let pairs = candidate.deviations.iter().zip(factors);
            candidate.weight * pairs.map(|(one, factor)| (one - factor).abs()).sum::<f64>()
        };
        candidates.iter().map(of).sum()
    };
    let largest = factors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let ratio = (largest - smallest).exp();
    let is_common = spread(&factors) <= LEFT * spread(&vec![0.0; runs]);
    (ratio >= LEAST_MOVEMENT && is_common).then_some(ratio)
}

/// Returns the natural logarithms of the size factors of the runs of a series. `rows` has the figures of functions with a figure above 0
/// in all runs. A factor is the weighted median of the deviations of a run's logarithms from the functions' middle ones. Returns
/// `None` if there are too few functions.
///
/// # Errors
///
/// If more than half of the weight differs between the runs before a position and those from there on.
pub fn factors_of_series(rows: &[Vec<f64>]) -> Result<Option<Vec<f64>>, Unstable> {
    let runs = rows.first().map_or(0, Vec::len);
    let mut candidates = by_cost(rows.iter().cloned().enumerate());
    if candidates.len() < FEWEST_IN_COMMON {
        return Ok(None);
    }
    // A step in the middle of the series moves the mean of a function in all runs, and its middle in half of them.
    for one in &mut candidates {
        let middle = median(one.deviations.clone());
        one.deviations.iter_mut().for_each(|log| *log -= middle);
    }
    let all: Vec<&Candidate> = candidates.iter().collect();
    let factors: Vec<f64> = (0..runs).map(|run| weighted_median(&all, run)).collect();
    let changed = largest_change(rows, &candidates, &factors);
    if changed > MOST_CHANGED {
        return Err(Unstable { changed });
    }
    Ok(Some(factors))
}

/// Returns the largest part of the weight that differs between the runs before a position of a series and those from there on.
fn largest_change(rows: &[Vec<f64>], candidates: &[Candidate], factors: &[f64]) -> f64 {
    let runs = factors.len();
    let all: f64 = candidates.iter().map(|one| one.weight).sum();
    let last = runs.saturating_sub(FEWEST_OF_PART);
    let step = (runs / MOST_POSITIONS).max(1);
    let positions = (FEWEST_OF_PART..=last).step_by(step);
    let changed_at = |position: usize| -> f64 {
        let part = |from: usize, to: usize| {
            let rows = candidates
                .iter()
                .flat_map(|one| &rows[one.function][from..to]);
            Figures::new(to - from, rows.copied().collect())
        };
        let sides = Sides {
            base: part(0, position),
            new: part(position, runs),
        };
        let estimates = times::test(&sides, &SizeFactors::Given(factors.to_vec()));
        let p: Vec<f64> = estimates.iter().map(|estimate| estimate.p).collect();
        let rates = false_discovery_rates(&p);
        // The functions that have changed pull the factors, and with them all others, by a few percent.
        let has_changed =
            |ln_ratio: f64, rate: f64| rate < HAS_CHANGED && ln_ratio.abs() >= LEAST_CHANGE.ln();
        let changed = candidates.iter().zip(estimates.iter().zip(rates));
        let changed = changed.filter(|(_, (one, rate))| has_changed(one.ln_ratio, *rate));
        changed.map(|(one, _)| one.weight).sum::<f64>() / all
    };
    positions.map(changed_at).fold(0.0, f64::max)
}

/// The functions that have a cost in all runs, with weights by cost. No weight is above half of the weight of a middle unit of cost,
/// so that a few large functions do not decide alone.
fn by_cost(rows: impl Iterator<Item = (usize, Vec<f64>)>) -> Vec<Candidate> {
    let known: Vec<(usize, Vec<f64>)> = rows
        .filter(|(_, times)| times.iter().all(|&time| time > 0.0))
        .collect();
    let mut costs: Vec<f64> = known.iter().map(|(_, times)| mean(times)).collect();
    let total: f64 = costs.iter().sum();
    costs.sort_by(f64::total_cmp);
    let mut below = 0.0;
    let middle = costs.iter().copied().find(|cost| {
        below += cost;
        below >= total / 2.0
    });
    let most = (middle.unwrap_or(0.0) / 2.0).min(FULL_SHARE * total);
    known
        .into_iter()
        .map(|(function, times)| Candidate::new(function, &times, mean(&times).min(most)))
        .collect()
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
    let runs = sides.base.runs() + sides.new.runs();
    let factors_of = |kept: &[&Candidate]| -> Vec<f64> {
        (0..runs).map(|run| weighted_median(kept, run)).collect()
    };
    if runs == 2 || candidates.is_empty() {
        return Ok(factors_of(&candidates.iter().collect::<Vec<_>>()));
    }
    let functions: Vec<usize> = candidates.iter().map(|one| one.function).collect();
    let tested = sides.select_rows(&functions);
    let weight = |kept: &[&Candidate]| kept.iter().map(|one| one.weight).sum::<f64>();
    let all = weight(&candidates.iter().collect::<Vec<_>>());
    let mut factors = factors_of(&closest_half(candidates, sides.base.runs()));
    let mut changed = 0.0;
    for _ in 0..ROUNDS {
        let estimates = test(&tested, &SizeFactors::Given(factors.clone()));
        let p: Vec<f64> = estimates.iter().map(|estimate| estimate.p).collect();
        let rates = false_discovery_rates(&p);
        let with_rates_from = |least: f64| -> Vec<&Candidate> {
            let all = candidates.iter().zip(&rates);
            all.filter(|(_, rate)| **rate >= least)
                .map(|(one, _)| one)
                .collect()
        };
        changed = 1.0 - weight(&with_rates_from(HAS_CHANGED)) / all;
        let kept = with_rates_from(MAY_HAVE_CHANGED);
        let next = factors_of(&kept);
        if kept.is_empty() || next == factors {
            break;
        }
        factors = next;
    }
    if changed > MOST_CHANGED {
        return Err(Unstable { changed });
    }
    Ok(factors)
}

/// The functions with half of the weight whose ratios of new to base are closest to each other.
fn closest_half(candidates: &[Candidate], base: usize) -> Vec<&Candidate> {
    let mut ordered: Vec<(f64, &Candidate)> = candidates
        .iter()
        .map(|one| {
            let (base, new) = one.deviations.split_at(base);
            (mean(new) - mean(base), one)
        })
        .collect();
    ordered.sort_by(|left, right| left.0.total_cmp(&right.0));
    let half = ordered.iter().map(|(_, one)| one.weight).sum::<f64>() / 2.0;
    let (mut end, mut within) = (0, 0.0);
    let mut closest = (f64::INFINITY, 0..ordered.len());
    for (start, (low, first)) in ordered.iter().enumerate() {
        while within < half && end < ordered.len() {
            within += ordered[end].1.weight;
            end += 1;
        }
        if within < half {
            break;
        }
        let width = ordered[end - 1].0 - low;
        if width < closest.0 {
            closest = (width, start..end);
        }
        within -= first.weight;
    }
    ordered[closest.1].iter().map(|(_, one)| *one).collect()
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
