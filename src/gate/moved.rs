//! Whether base itself has moved: a change that was merged before the one that is judged is none of it.

use super::answer::PASSES;
use crate::history::series;
use crate::store::{Database, StoreError};
use profdb_statistics::limits;

/// A place in the order of the runs of base, with what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// A commit, else the run.
    pub(super) said: String,
    /// Places of its runs among the figures.
    pub(super) runs: Vec<usize>,
}

/// The positions of the runs of base, the oldest first: runs of one commit are one. `runs` are the numbers of the runs of the
/// figures, in their order.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn positions(database: &Database, runs: &[i64]) -> Result<Vec<Position>, StoreError> {
    let place = |run: i64| runs.iter().position(|known| *known == run);
    let of_all = series(database, Some(runs), &[])?.into_iter().next();
    let positions = of_all.into_iter().flat_map(|series| series.positions);
    Ok(positions
        .filter_map(|position| {
            let first = position.runs.first()?.run_id;
            Some(Position {
                said: match &position.commit {
                    Some(commit) => format!("commit {commit}"),
                    None => format!("run {first}"),
                },
                runs: position
                    .runs
                    .iter()
                    .filter_map(|run| place(run.run_id))
                    .collect(),
            })
        })
        .collect())
}

/// A change of base before the one that is judged.
pub(super) struct Moved {
    /// Where it is first seen.
    pub(super) said: String,
    /// By how much.
    pub(super) ratio: f64,
}

/// Judges figures of one side by those of another, where nothing varies.
pub(super) type IsOver<'o> = &'o dyn Fn(&[f64], &[f64]) -> bool;

/// Where base has moved by more than a ratio (its natural logarithm): the newest positions are shown to be over what the older ones
/// allow, and new is not shown to be over what the newest ones allow. `is_over` judges figures of one side by those of another
/// where nothing varies.
pub(super) fn moved(
    positions: &[Position],
    base: &[f64],
    new: &[f64],
    ln_limit: f64,
    is_over: Option<IsOver<'_>>,
) -> Option<Moved> {
    let mut best: Option<(f64, Moved)> = None;
    for first in 1..positions.len() {
        let part = |positions: &[Position]| -> Vec<f64> {
            let runs = positions.iter().flat_map(|position| &position.runs);
            runs.map(|run| base[*run]).collect()
        };
        let (older, newest) = (part(&positions[..first]), part(&positions[first..]));
        let (p, is_new_over) = match is_over {
            Some(is_over) => (
                if is_over(&older, &newest) { 0.0 } else { 1.0 },
                is_over(&newest, new),
            ),
            None => (
                limits::ratio(&older, &newest).map_or(1.0, |ratio| ratio.p_above(ln_limit)),
                limits::ratio(&newest, new).is_none_or(|ratio| ratio.p_above(ln_limit) < PASSES),
            ),
        };
        if p >= PASSES || is_new_over || best.as_ref().is_some_and(|(least, _)| *least <= p) {
            continue;
        }
        let mean = super::subjects::mean;
        best = Some((
            p,
            Moved {
                said: positions[first].said.clone(),
                ratio: mean(&newest) / mean(&older),
            },
        ));
    }
    best.map(|(_, moved)| moved)
}
