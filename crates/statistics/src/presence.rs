//! The test of functions that are in all runs of one side and in no run of the other.

/// Steps in which the probability of being in a run is tried.
const STEPS: u32 = 200;

/// Returns for each function the probability that any one of the functions is in all runs of one side and in no run of the other
/// if nothing has changed. Returns `None` for functions that are not distributed like that. `seen` has the numbers of runs of
/// base and of new that have the function.
///
/// Functions that are in some runs of a side and not in others show how many functions are in a run by chance. Their number gives
/// the expected number of functions that are on one side only, at the most likely probability of being in a run. The number is
/// increased by one, for the function itself. If each side has one run, the probability is 1. The probability times the number of
/// functions, divided by the number of such functions, is a false discovery rate ([`crate::multiple::false_discovery_rates`]).
pub fn one_sided(seen: &[[usize; 2]], runs: [usize; 2]) -> Vec<Option<f64>> {
    let is_one_sided = |seen: &[usize; 2]| *seen == [0, runs[1]] || *seen == [runs[0], 0];
    let is_by_chance = |seen: &[usize; 2]| *seen != [0, 0] && *seen != runs && !is_one_sided(seen);
    let by_chance = seen.iter().filter(|seen| is_by_chance(seen)).count();
    let expected = one_sided_for_each_mixed(runs) * (by_chance as f64 + 1.0);
    let probability = (expected / seen.len() as f64).min(1.0);
    seen.iter()
        .map(|seen| is_one_sided(seen).then_some(probability))
        .collect()
}

/// Of functions that are in a run by chance: how many are in all runs of one side and none of the other, for each that is in some
/// runs of a side and not in others.
fn one_sided_for_each_mixed(runs: [usize; 2]) -> f64 {
    let [n0, n1] = runs.map(|runs| i32::try_from(runs).unwrap_or(i32::MAX));
    let ratio = |step: u32| {
        let is_in = f64::from(step) / f64::from(STEPS);
        let is_not = 1.0 - is_in;
        let one_sided = is_in.powi(n0) * is_not.powi(n1) + is_in.powi(n1) * is_not.powi(n0);
        let alike = is_in.powi(n0) * is_in.powi(n1) + is_not.powi(n0) * is_not.powi(n1);
        let mixed = 1.0 - one_sided - alike;
        if n0 == 1 && n1 == 1 {
            f64::INFINITY
        } else {
            one_sided / mixed
        }
    };
    (1..STEPS).map(ratio).fold(0.0, f64::max)
}
