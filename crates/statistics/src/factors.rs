//! Size factors, by which all functions of a run differ from those of another run.

use std::f64::consts::FRAC_PI_2;

use crate::summary::{mean, median, squares};
use crate::{Figures, Sides};

/// Mean count from which a function takes part.
const FEWEST: f64 = 5.0;

/// Fewest functions that tell what the runs of a history share, if its variance is to be left out: of fewer, it would have much
/// of the functions' own.
pub(crate) const TELL_SHARED: usize = 5;

/// The factors that all functions of a run share.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeFactors {
    /// Factors that are estimated from the figures. Their variance is part of the variance of each ratio.
    Estimated,
    /// Natural logarithms of known factors, base first, then new. The figures are divided by the factors.
    Given(Vec<f64>),
    /// Natural logarithms of factors that were found from the figures themselves. Their variance is part of the variance of each ratio.
    Found(Vec<f64>),
}

/// Natural logarithms of the size factors of counts, those of base first: the median over functions of the deviation of a run's
/// logarithm from the function's mean (median of ratios; Anders and Huber 2010, "Differential expression analysis for sequence
/// count data"). Functions that are missing in a run, or have less than five counts a run, take no part; all factors are 1
/// where none is left.
pub(crate) fn median_of_ratios(sides: &Sides) -> Vec<f64> {
    middle_deviations(&tall_rows(&[&sides.base, &sides.new]))
        .unwrap_or_else(|| vec![0.0; sides.base.runs() + sides.new.runs()])
}

/// [`median_of_ratios`] of the runs of one history.
pub(crate) fn median_of_history(history: &Figures) -> Vec<f64> {
    middle_deviations(&tall_rows(&[history])).unwrap_or_else(|| vec![0.0; history.runs()])
}

/// Logarithms of the counts of the functions that take part.
fn tall_rows(parts: &[&Figures]) -> Vec<Vec<f64>> {
    (0..parts[0].functions())
        .map(|function| -> Vec<f64> {
            parts
                .iter()
                .flat_map(|part| part.row(function))
                .copied()
                .collect()
        })
        .filter(|counts| mean(counts) >= FEWEST && counts.iter().all(|&count| count > 0.0))
        .map(|counts| counts.iter().map(|count| count.ln()).collect())
        .collect()
}

/// For each run, the median over functions (rows of logarithms) of the deviation from the function's mean; `None` of no
/// functions.
pub(crate) fn middle_deviations(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let means: Vec<f64> = rows.iter().map(|row| mean(row)).collect();
    let deviations = |run: usize| {
        rows.iter()
            .zip(&means)
            .map(move |(row, mean)| row[run] - mean)
    };
    (0..rows.first()?.len())
        .map(|run| Some(median(deviations(run).collect())))
        .collect()
}

/// Variance of one difference of two independent values about the same mean, halved, from a series of values: of a step in
/// between, only the two neighbours know (von Neumann 1941, "Distribution of the ratio of the mean square successive difference
/// to the variance").
pub(crate) fn successive_variance(series: impl Iterator<Item = f64> + Clone) -> f64 {
    let differences = series.clone().skip(1).zip(series);
    let (sum, count) = differences.fold((0.0, 0.0), |(sum, count), (next, value)| {
        (sum + (next - value).powi(2), count + 1.0)
    });
    sum / (2.0 * count)
}

/// Degrees of freedom of [`successive_variance`] of so many values: neighbouring differences share a value, so that it has the
/// variance of a chi-square variable of fewer than `values - 1` degrees.
pub(crate) fn successive_df(values: usize) -> f64 {
    let n = values as f64;
    2.0 * (n - 1.0).powi(2) / (3.0 * n - 4.0)
}

/// Variance of the factor of a run that was found from functions with the given variances: the median of normal figures has pi/2 times
/// the variance of their mean. It is 0 for a few functions, which have no factor of their own.
pub(crate) fn variance_of_factor(variances: Vec<f64>) -> f64 {
    let functions = variances.len();
    if functions < TELL_SHARED {
        return 0.0;
    }
    FRAC_PI_2 * median(variances) / functions as f64
}

/// Sum of squares of the factors of either side about its mean.
pub(crate) fn squares_of_sides(factors: &[f64], runs0: usize) -> f64 {
    let (base, new) = factors.split_at(runs0);
    squares(base) + squares(new)
}
