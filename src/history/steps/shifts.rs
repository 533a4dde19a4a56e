//! Steps that make up for each other: a function was inlined, outlined, renamed or moved, and what it cost is counted elsewhere.
//!
//! The rule is that of comparisons ([`crate::compare`]): steps that may be at one place and have opposite signs, of a caller and a
//! callee of which one is new or gone there, or of one new and one gone with the same callers (where these are unknown, of the same
//! name); and what they cost together is the same before and after.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::super::aliases::Aliases;
use super::super::reading::{HistoryError, Measured};
use super::change::{Change, Judged, State};
use super::matrix::Frame;
use crate::compare::{Presence, together, word};
use crate::store::Database;
use profdb_statistics::limits::are_equal_within;

/// Most counterparts of a step.
const MOST: usize = 3;
/// How much of a step may be left where it is called none.
const LEFT: f64 = 0.2;
/// Steps above which shifts are not looked for: so many things have changed that some make up for each other by chance.
const MOST_STEPS: usize = 1000;
/// Positions on either side of a step that tell what it was before, and is after.
const NEAR: usize = 30;

/// A step of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    row: usize,
    step: usize,
}

/// Marks the steps whose cost is counted elsewhere.
pub(super) fn mark(
    database: &Database,
    measured: &Measured,
    frame: &Frame,
    aliases: &Aliases,
    changes: &mut [Change],
    alpha: f64,
) -> Result<(), HistoryError> {
    let mut places: Vec<Place> = Vec::new();
    for (row, change) in changes.iter().enumerate() {
        places.extend((0..change.steps.len()).map(|step| Place { row, step }));
    }
    let judged = |place: &Place| -> &Judged { &changes[place.row].steps[place.step] };
    let delta = |place: &Place| judged(place).step.after - judged(place).step.before;
    let is_one_sided =
        |place: &Place| judged(place).step.before == 0.0 || judged(place).step.after == 0.0;
    // Without one that is new or gone nothing has moved.
    if places.len() > MOST_STEPS || !places.iter().any(is_one_sided) {
        return Ok(());
    }
    places.sort_by(|one, other| {
        let sizes = delta(other).abs().total_cmp(&delta(one).abs());
        sizes.then(one.cmp(other))
    });
    let mut callers = Callers::new(database, measured, frame, aliases)?;
    let mut used: BTreeSet<Place> = BTreeSet::new();
    let mut found: Vec<(Place, String)> = Vec::new();
    for place in &places {
        if used.contains(place) || changes[place.row].names[0].is_empty() {
            continue;
        }
        let mut counterparts = Vec::new();
        for other in &places {
            let (step, that) = (&judged(place).step, &judged(other).step);
            let is_opposite = other.row != place.row
                && !used.contains(other)
                && !changes[other.row].names[0].is_empty()
                && delta(other) * delta(place) < 0.0
                && that.earliest <= step.latest
                && step.earliest <= that.latest;
            if !is_opposite || !(is_one_sided(place) || is_one_sided(other)) {
                continue;
            }
            let of = |place: &Place| changes[place.row].identity_id.unwrap_or_default();
            let (of_this, of_that) = (
                callers.of(of(place), step.position)?,
                callers.of(of(other), step.position)?,
            );
            let calls = of_this.contains(&of(other)) || of_that.contains(&of(place));
            let one_for_other = is_one_sided(place) && is_one_sided(other);
            // Where nothing is known of callers, only the name says that they are one.
            let is_alike = of_this == of_that
                && (!of_this.is_empty()
                    || changes[place.row].names[0] == changes[other.row].names[0]);
            if calls || one_for_other && is_alike {
                counterparts.push(*other);
            }
        }
        let distance = |other: &Place| (delta(other).abs() - delta(place).abs()).abs();
        counterparts.sort_by(|one, other| {
            let near = distance(one).total_cmp(&distance(other));
            near.then(one.cmp(other))
        });
        let enough = (1..=counterparts.len().min(MOST))
            .find(|count| is_unchanged(changes, *place, &counterparts[..*count], alpha));
        if let Some(count) = enough {
            counterparts.truncate(count);
            let how = how(changes, *place, &counterparts);
            let all: Vec<Place> = [*place].into_iter().chain(counterparts).collect();
            for one in &all {
                let others = all.iter().filter(|other| *other != one);
                let names: Vec<&str> = others
                    .map(|other| changes[other.row].names[0].as_str())
                    .collect();
                found.push((*one, together(how, &names)));
            }
            used.extend(all);
        }
    }
    for (place, reason) in found {
        let judged = &mut changes[place.row].steps[place.step];
        judged.state = State::Shifted;
        judged.reason = reason;
    }
    Ok(())
}

/// A word for what happened.
fn how(changes: &[Change], place: Place, counterparts: &[Place]) -> &'static str {
    let presence = |place: &Place| {
        let step = &changes[place.row].steps[place.step].step;
        if step.after == 0.0 {
            Presence::Gone
        } else if step.before == 0.0 {
            Presence::New
        } else {
            Presence::Both
        }
    };
    let others: Vec<Presence> = counterparts.iter().map(presence).collect();
    let name = |place: &Place| &changes[place.row].names[0];
    let is_named_alike = counterparts.iter().all(|other| name(other) == name(&place));
    word(presence(&place), &others, is_named_alike)
}

/// Whether rows together cost the same before and after a step, up to a part of it: two one-sided tests.
fn is_unchanged(changes: &[Change], place: Place, others: &[Place], alpha: f64) -> bool {
    let step = &changes[place.row].steps[place.step].step;
    let all: Vec<Place> = others.iter().copied().chain([place]).collect();
    // Up to where any of them steps again, and without positions at which only some may have.
    let steps = || {
        all.iter().flat_map(|place| {
            let steps = changes[place.row].steps.iter().enumerate();
            steps
                .filter(|(at, _)| *at != place.step)
                .map(|(_, judged)| &judged.step)
        })
    };
    let own = || {
        all.iter()
            .map(|place| &changes[place.row].steps[place.step].step)
    };
    let end = own()
        .map(|step| step.earliest)
        .min()
        .unwrap_or(step.earliest);
    let begin = own().map(|step| step.latest).max().unwrap_or(step.latest);
    let first = steps()
        .filter(|other| other.latest <= end)
        .map(|other| other.latest)
        .max();
    let last = steps()
        .filter(|other| other.earliest > begin)
        .map(|other| other.earliest)
        .min();
    let n = changes[place.row].costs.len();
    let (first, last) = (first.unwrap_or(0), last.unwrap_or(n));
    let sums = |from: usize, to: usize| -> Vec<f64> {
        let sum = |at: usize| all.iter().map(|place| changes[place.row].costs[at]).sum();
        (from..to).map(sum).collect()
    };
    let before = sums(first.max(end.saturating_sub(NEAR)), end);
    let after = sums(begin, last.min(begin + NEAR));
    if before.is_empty() || after.is_empty() {
        return false;
    }
    let most = LEFT * (step.after - step.before).abs();
    are_equal_within(&before, &after, most, alpha)
}

/// Who calls what, around a position.
struct Callers<'d> {
    database: &'d Database,
    /// The metric of the first run of each position by which calls are known.
    metrics: Vec<i64>,
    identity_of: HashMap<i64, i64>,
    functions_of: HashMap<i64, Vec<i64>>,
    known: HashMap<(i64, usize), BTreeSet<i64>>,
}

impl<'d> Callers<'d> {
    fn new(
        database: &'d Database,
        measured: &Measured,
        frame: &Frame,
        aliases: &Aliases,
    ) -> Result<Self, HistoryError> {
        let mut metrics = Vec::with_capacity(frame.positions.len());
        let mut last = None;
        for run in &measured.runs {
            if last == Some(run.position) {
                continue;
            }
            last = Some(run.position);
            let usual = database
                .run(Some(run.run_id))?
                .and_then(|run| run.default_metric);
            let all = database.metrics(run.run_id)?;
            let usual = all
                .iter()
                .find(|metric| Some(&metric.name) == usual.as_ref());
            metrics.push(usual.map_or(run.metric.metric_id, |metric| metric.metric_id));
        }
        let mut identity_of = HashMap::new();
        let mut functions_of: HashMap<i64, Vec<i64>> = HashMap::new();
        for function in database.identified_functions()? {
            let identity = aliases.identity(function.identity_id);
            identity_of.insert(function.function_id, identity);
            let functions = functions_of.entry(identity).or_default();
            functions.push(function.function_id);
        }
        Ok(Self {
            database,
            metrics,
            identity_of,
            functions_of,
            known: HashMap::new(),
        })
    }

    /// The identities that call one just before a position or at it.
    fn of(&mut self, identity: i64, position: usize) -> Result<BTreeSet<i64>, HistoryError> {
        if let Some(known) = self.known.get(&(identity, position)) {
            return Ok(known.clone());
        }
        let mut callers = BTreeSet::new();
        for at in [position.saturating_sub(1), position] {
            for function in self.functions_of.get(&identity).into_iter().flatten() {
                let found = self.database.callers_of(self.metrics[at], *function)?;
                callers.extend(
                    found
                        .iter()
                        .filter_map(|caller| self.identity_of.get(caller)),
                );
            }
        }
        self.known.insert((identity, position), callers.clone());
        Ok(callers)
    }
}
