//! Finds the changes of a function in a series of figures, one figure for each position, which is a commit or a day.

mod exact;
mod logarithms;
pub mod potts;
mod search;
mod series;
mod variance;
mod wander;

pub use series::{Drift, Findings, Kind, Limits, MIN_POSITIONS, Point, SmallChanges, Step};

/// Finds the steps of a series, whose points are in the order of time.
///
/// Returns no findings if a figure is below 0, or all figures are 0.
#[must_use]
pub fn find_steps(points: &[Point], kind: Kind, limits: &Limits) -> Findings {
    let is_figure = |point: &Point| point.value >= 0.0 && point.value.is_finite();
    if points.len() < 2
        || !points.iter().all(is_figure)
        || points.iter().all(|point| point.value == 0.0)
    {
        return Findings::default();
    }
    let repeats_agree = points.iter().all(|point| point.squares == 0.0);
    if kind == Kind::Exact
        && repeats_agree
        && let Some(found) = exact::find(points, limits)
    {
        return found;
    }
    if points.len() < MIN_POSITIONS {
        return Findings::default();
    }
    let search = search::Search::new(points, kind, limits);
    // What does not vary is exact, whatever the profiler says of itself; but of what is there in few positions that is not known.
    if points.iter().all(|point| point.value > 0.0)
        && search.variation.single == 0.0
        && repeats_agree
        && let Some(found) = exact::find(points, limits)
    {
        return found;
    }
    search.find()
}
