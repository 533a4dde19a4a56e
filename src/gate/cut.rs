//! From where on base is compared with: what a standing step separates from its end is another program.
//!
//! After a merge that made a function slower, the last runs of a branch are a mixture, in which the change hides and by which innocent
//! changes fail; after one that made it faster, whatever is slower again passes. So the history of each thing that a rule watches
//! is searched for steps as `profdb steps` does, and what is before the last standing one is left out for this thing.

use super::answer::ALPHA;
use super::moved::Position;
use super::subjects::Candidate;
use crate::statistics::limits;
use crate::statistics::multiple::false_discovery_rates;
use crate::statistics::steps::{Kind, Limits, Point, Step, find};

/// Positions that a level of figures that vary has at least (docs/design/0020-steps.md): fewer make no step yet.
const NO_STEP: usize = 2;

/// Where base begins for a thing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// The first position of the new level.
    pub(super) position: usize,
    /// What the level is in units of the one before; `None` where one of them is 0.
    pub(super) ratio: Option<f64>,
}

/// The last standing step of each thing in its history, if it has one. `positions` are those of the history.
pub(super) fn cuts(
    things: &[Candidate],
    positions: &[Position],
    is_exact: bool,
) -> Vec<Option<Cut>> {
    let limits = Limits {
        tests: things.len(),
        ..Limits::default()
    };
    let kind = if is_exact {
        Kind::Exact
    } else {
        Kind::Timed { quantum: 0.0 }
    };
    let last: Vec<Option<Step>> = things
        .iter()
        .map(|thing| {
            let points: Vec<Point> = positions
                .iter()
                .map(|position| Point::of(&figures(position, &thing.each[0])))
                .collect();
            let mut steps = find(&points, kind, &limits).steps;
            steps.retain(|step| step.gone_at.is_none());
            steps.pop()
        })
        .collect();
    let p: Vec<f64> = last
        .iter()
        .map(|step| step.as_ref().map_or(1.0, |step| step.p))
        .collect();
    let rates = false_discovery_rates(&p);
    last.into_iter()
        .zip(rates)
        .map(|(step, rate)| {
            let step = step.filter(|_| rate < limits.alpha)?;
            Some(Cut {
                position: step.position,
                ratio: step.ratio,
            })
        })
        .collect()
}

/// Where the newest positions, too few for a step, are shown to be below what came before by more than a ratio (its natural
/// logarithm): what is slower than these may still keep the limit of a mixture. `tests` are the things that are looked at.
pub(super) fn newest_below(
    thing: &Candidate,
    positions: &[Position],
    ln_limit: f64,
    tests: usize,
) -> Option<Cut> {
    let part = |positions: &[Position]| -> Vec<f64> {
        let figures = positions
            .iter()
            .map(|position| figures(position, &thing.each[0]));
        figures.flatten().collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "a number of tests")]
    let level = ALPHA / (tests * NO_STEP) as f64;
    (1..=NO_STEP.min(positions.len().saturating_sub(1)))
        .filter_map(|newest| {
            let first = positions.len() - newest;
            let (older, newest) = (part(&positions[..first]), part(&positions[first..]));
            let p = limits::ratio(&newest, &older)?.above(ln_limit);
            let ratio = super::subjects::mean(&newest) / super::subjects::mean(&older);
            let cut = Cut {
                position: first,
                ratio: Some(ratio),
            };
            (p < level).then_some((p, cut))
        })
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, cut)| cut)
}

/// The figures of the runs of a position.
fn figures(position: &Position, each: &[f64]) -> Vec<f64> {
    position.runs.iter().map(|run| each[*run]).collect()
}
