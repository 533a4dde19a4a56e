//! Vocabulary of importers: rounding, and how figures of several runs vary.

use profdb::events::Noise::{self, Exact, Sampled, Timed, Unknown};
use profdb::events::slack;

#[test]
fn slack_is_half_a_unit_for_each_figure_and_the_sum() {
    // As binary numbers, these differences are a little more than half a unit.
    for (unit, figures, difference) in [
        (0.01, 0, 0.125_f64 - 0.12),
        (0.1, 2, 0.15_f64),
        (1000.0, 3, 2000.0),
    ] {
        assert!(difference <= slack(unit, figures), "{unit} {figures}");
        assert!(
            difference * 1.001 > slack(unit, figures),
            "{unit} {figures}"
        );
    }
    assert!(slack(0.0, 5).abs() < f64::MIN_POSITIVE);
}

#[test]
fn several_runs_vary_as_the_least_certain_one() {
    for (runs, common) in [
        (vec![], Unknown),
        (vec![Exact], Exact),
        (vec![Sampled, Sampled, Sampled], Sampled),
        (vec![Exact, Sampled], Timed),
        (vec![Sampled, Exact, Sampled], Timed),
        (vec![Exact, Unknown, Exact], Unknown),
        (vec![Unknown, Timed, Sampled], Unknown),
    ] {
        assert_eq!(Noise::common(runs.iter().copied()), common, "{runs:?}");
    }
}
