//! The number of runs that is needed to detect a change.

use crate::distribution::normal_upper_quantile;

/// Probability with which a change of the size asked for shall be seen.
const POWER: f64 = 0.8;

/// Returns the number of runs on each side that detect a change by `effect` (0.05 is 5 %) with a probability of 80 %. `tests`
/// functions are tested at `alpha`, and the logarithm of a run's figure has the standard deviation `deviation`.
///
/// The level is `alpha / tests` (Bonferroni): the level of the procedure of Benjamini and Hochberg depends on the number of other
/// functions that have changed, and the result must hold if none has. The minimum is 3, because fewer runs detect nothing. The
/// result is infinite if the deviation is.
pub fn runs_needed(deviation: f64, effect: f64, alpha: f64, tests: usize) -> f64 {
    let level = alpha / (2.0 * tests.max(1) as f64);
    let reach = normal_upper_quantile(level) + normal_upper_quantile(1.0 - POWER);
    let runs = 2.0 * (reach * deviation / effect.ln_1p()).powi(2);
    runs.ceil().max(3.0)
}
