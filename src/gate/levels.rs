//! Tests of figures without a ratio: single figures, levels, and growth from 0.

use super::answer::{PASSES, Subject};
use super::subjects::Candidate;
use profdb_statistics::{Estimate, Shape, is_above, limits};

/// How a thing is judged.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// Nothing varies, or nothing tells how much it does: the figure is over the limit, keeps it, or neither.
    Figure(Option<bool>),
    /// True if the figure is shown to keep its limit. Its distribution shows an excess.
    Tested(bool),
    /// Not at all.
    Not,
}

/// The reason why a figure breaks any limit in percent.
pub(super) const FROM_ZERO: &str =
    "base has it with a cost of 0, and any growth from 0 exceeds every percentage";

/// Judges growth from 0, which exceeds every limit in percent. Samples have a probability, which is one of those of the gate.
/// Of other figures, the comparison shows growth by the runs that have them.
pub(super) fn from_zero(subject: &mut Subject, new: &[f64], thing: &Candidate) -> Test {
    if new.iter().all(|figure| *figure == 0.0) {
        return Test::Figure(Some(false));
    }
    FROM_ZERO.clone_into(&mut subject.reason);
    if thing.p.is_none() {
        return Test::Figure(thing.has_grown.then_some(true));
    }
    subject.p = thing.p;
    subject.unchanged = thing.p;
    Test::Tested(false)
}

/// Judges figures of which nothing is known but themselves.
pub(super) fn by_figures(figures: &[f64], most: f64) -> Test {
    let over = figures.iter().filter(|figure| is_above(**figure, most));
    let over = over.count();
    Test::Figure(match over {
        0 => Some(false),
        over if over == figures.len() => Some(true),
        _ => None,
    })
}

/// The level of the figures of new, where enough tells how much they vary for a test of whether it is above `most`.
pub(super) fn level(base: &[f64], new: &[f64], most: f64) -> Option<Estimate> {
    // One degree of freedom shows next to nothing: the figures themselves say more.
    let tells = |estimate: &Estimate| match estimate.shape {
        Shape::Student { df, .. } => df >= 2.0,
        Shape::Binomial { .. } | Shape::Order { .. } => false,
    };
    limits::level(base, new).filter(|estimate| most > 0.0 && tells(estimate))
}

/// Tests whether the figures of new are above a level.
pub(super) fn of_level(
    subject: &mut Subject,
    estimate: Option<Estimate>,
    new: &[f64],
    most: f64,
) -> Test {
    let Some(estimate) = estimate else {
        if new.iter().all(|figure| *figure == 0.0) {
            return Test::Figure(Some(false));
        }
        let reason = if new.contains(&0.0) {
            "some runs have no cost"
        } else if most <= 0.0 {
            "the limit is 0"
        } else {
            "too few runs to measure the noise"
        };
        subject.reason = format!("{reason}, so the figures are compared directly");
        return by_figures(new, most);
    };
    subject.interval = Some(estimate.interval(PASSES));
    Test::Tested(estimate.ln_upper_bound(PASSES) <= most.ln())
}
