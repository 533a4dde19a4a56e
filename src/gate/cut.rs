//! From where on base is compared with: what a standing step separates from its end is another program.
//!
//! After a merge that made a function slower, the last runs of a branch are a mixture, in which the change hides and by which innocent
//! changes fail; after one that made it faster, whatever is slower again passes. So the history of each thing that a rule watches
//! is searched for steps as `profdb steps` does, and what is before the last standing one is left out for this thing.

use hashbrown::HashMap;

use super::amounts::Growth;
use super::answer::{ALPHA, GateError};
use super::budget::Rule;
use super::figures::{Figures, Window};
use super::moved::{Position, positions};
use super::subjects::{Candidate, Watched, mean, watched};
use crate::text::number::fixed;
use profdb_statistics::limits;
use profdb_statistics::multiple::false_discovery_rates;
use profdb_statistics::steps::{Kind, Limits, Point, Step, find_steps};

/// Positions that a level of figures that vary has at least (docs/design/0020-steps.md): fewer make no step yet.
const NO_STEP: usize = 2;

/// Where base begins for a thing.
#[derive(Clone, Default)]
pub(super) struct Start {
    /// Which of the lists of positions is of the runs that it is compared with.
    pub(super) window: usize,
    /// What there is to say of it.
    pub(super) reason: String,
}

/// What a rule is compared with, as a piece of a history.
pub(super) struct History<'h> {
    pub(super) rule: &'h Rule,
    /// Where both sides are kept.
    pub(super) sides: usize,
    pub(super) base: usize,
    /// The numbers of the runs of base, in the order of their figures.
    pub(super) numbers: &'h [i64],
    pub(super) is_exact: bool,
    /// Runs that base has at least.
    pub(super) fewest: usize,
    /// By how much figures may grow.
    pub(super) growth: Growth,
}

impl History<'_> {
    /// Leaves out of base what a standing step separates from its end, thing by thing, and says so.
    pub(super) fn cut(
        &self,
        figures: &mut Figures<'_, '_>,
        things: &mut [Candidate],
        known: &mut Vec<Vec<Position>>,
    ) -> Result<Vec<Start>, GateError> {
        let mut starts = vec![Start::default(); things.len()];
        let cuts = self.cuts(figures, things, &known[0])?;
        // The things that have one place in common are compared again together.
        let mut places: Vec<usize> = cuts.iter().flatten().map(|cut| cut.position).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            let kept = known[0][place..].iter().flat_map(|position| &position.runs);
            let kept: Vec<i64> = kept.map(|run| self.numbers[*run]).collect();
            let from = known[0][place].said.clone();
            let is_enough = kept.len() >= self.fewest;
            let mut again = Vec::new();
            if is_enough {
                let window = (Some(self.base), Window::Part(kept.clone()));
                if let Watched::Things(found) =
                    watched(figures, self.rule, self.sides, window, false)?
                {
                    again = found;
                }
                known.push(self.positions(figures)?);
            }
            let of_place = cuts.iter().enumerate().filter_map(|(at, cut)| {
                let cut = cut.as_ref().filter(|cut| cut.position == place)?;
                Some((at, cut))
            });
            for (at, cut) in of_place {
                let is = match cut.ratio {
                    Some(ratio) => format!("base itself is x{} since {from}", fixed(ratio, 2)),
                    None => format!("base itself is different since {from}"),
                };
                if !is_enough {
                    let runs = if kept.len() == 1 { "run" } else { "runs" };
                    starts[at].reason = format!(
                        "{is}, and its {} {runs} are too few for a comparison of their own",
                        kept.len()
                    );
                    continue;
                }
                let names = &things[at].names;
                let is_it = |thing: &Candidate| thing.names == *names && thing.unknown.is_none();
                let found = again.iter().position(is_it);
                if let Some(found) = found {
                    things[at] = again.swap_remove(found);
                    starts[at] = Start {
                        window: known.len() - 1,
                        reason: format!("{is}; new is compared with these runs"),
                    };
                }
            }
        }
        Ok(starts)
    }

    /// For each thing: from which position of base on it is another one.
    fn cuts(
        &self,
        figures: &mut Figures<'_, '_>,
        things: &[Candidate],
        base: &[Position],
    ) -> Result<Vec<Option<Cut>>, GateError> {
        let window = (Some(self.base), Window::Long);
        let Watched::Things(long) = watched(figures, self.rule, self.sides, window, false)? else {
            return Ok(vec![None; things.len()]);
        };
        let positions = self.positions(figures)?;
        // What is unknown has no history.
        let long: Vec<Candidate> = long
            .into_iter()
            .filter(|thing| thing.unknown.is_none())
            .collect();
        let mut steps: HashMap<[String; 3], Cut> = HashMap::new();
        for (thing, cut) in long.iter().zip(cuts(&long, &positions, self.is_exact)) {
            let Some(cut) = cut else { continue };
            let said = &positions[cut.position].said;
            // A step before base is none of it.
            if let Some(position) = base.iter().position(|position| position.said == *said) {
                steps.insert(thing.names.clone(), Cut { position, ..cut });
            }
        }
        let of_newest = |thing: &Candidate| {
            let before = mean(&thing.each[0]);
            let allowed = self.growth.allowed(before);
            if self.is_exact || before <= 0.0 {
                return None;
            }
            newest_below(thing, base, (allowed / before).ln(), things.len())
        };
        Ok(things
            .iter()
            .map(|thing| {
                if thing.unknown.is_some() {
                    return None;
                }
                let step = steps.get(&thing.names).filter(|cut| cut.position > 0);
                step.cloned().or_else(|| of_newest(thing))
            })
            .collect())
    }

    /// The positions of base as it was compared last.
    fn positions(&self, figures: &Figures<'_, '_>) -> Result<Vec<Position>, GateError> {
        let runs = figures.last().map(|comparison| &comparison.sides[0].runs);
        let runs: Option<Vec<i64>> = runs.into_iter().flatten().map(|run| run.run_id).collect();
        let database = figures
            .side(self.sides)
            .base
            .first()
            .map(|run| run.database);
        Ok(match (runs, database) {
            (Some(runs), Some(database)) => positions(database, &runs)?,
            _ => Vec::new(),
        })
    }
}

/// A change of the level of a thing.
#[derive(Clone, Debug, PartialEq)]
struct Cut {
    /// The first position of the new level.
    position: usize,
    /// What the level is in units of the one before; `None` where one of them is 0.
    ratio: Option<f64>,
}

/// The last standing step of each thing in its history, if it has one. `positions` are those of the history.
fn cuts(things: &[Candidate], positions: &[Position], is_exact: bool) -> Vec<Option<Cut>> {
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
                .map(|position| Point::new(&figures(position, &thing.each[0])))
                .collect();
            let mut steps = find_steps(&points, kind, &limits).steps;
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
fn newest_below(
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
            let p = limits::ratio(&newest, &older)?.p_above(ln_limit);
            let ratio = mean(&newest) / mean(&older);
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
