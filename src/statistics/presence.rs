//! Functions that are in all runs of one side and in none of the other, where figures have no test: is that change, or are they
//! in a run by chance?

/// Steps in which the probability of being in a run is tried.
const STEPS: u32 = 200;

/// For each function of which `seen` has in how many runs of base and of new it is, and which is in all of one side and in none
/// of the other: the probability that any one of the functions is so if nothing has changed. `None` for all others.
///
/// The functions themselves say how many are in a run by chance: those that are in some runs of a side and not in others. From
/// their number follows how many of them are expected to be all on one side, at the probability of being in a run at which that is
/// likeliest; one more than were found is counted, for the one that is asked about. Of one run on either side nothing follows, and
/// the probability is 1. Multiplied by the number of functions and divided by that of those found, this is a false discovery
/// rate, as of any other probability ([`super::multiple::false_discovery_rates`]).
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
