//! How many runs it takes to see a change.

use super::distribution::normal_upper_quantile;

/// Probability with which a change of the size asked for shall be seen.
const POWER: f64 = 0.8;

/// How many runs a side show a change by `effect` (0.05 is five in a hundred) with a probability of 80 %, among `tests`
/// functions that are tested at `alpha`, if the logarithm of one run's figure has the standard deviation `deviation`.
///
/// The level is Bonferroni's, `alpha / tests`: which level Benjamini and Hochberg's procedure ends at depends on how many of the
/// others have changed, and what is promised must hold where none has. At least 3, fewer show nothing; infinite where the
/// deviation is.
pub fn runs_needed(deviation: f64, effect: f64, alpha: f64, tests: usize) -> f64 {
    let level = alpha / (2.0 * tests.max(1) as f64);
    let reach = normal_upper_quantile(level) + normal_upper_quantile(1.0 - POWER);
    let runs = 2.0 * (reach * deviation / effect.ln_1p()).powi(2);
    runs.ceil().max(3.0)
}
