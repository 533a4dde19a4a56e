//! Where did a series of figures change? One figure for each position, a commit or a day, of one function.

mod exact;
mod logarithms;
pub mod potts;
mod search;
mod series;
mod variance;
mod wander;

pub use series::{Drift, FEWEST, Found, Kind, Limits, Point, Small, Step};

/// Finds the steps of a series, whose points are in the order of time.
///
/// Nothing is found where a figure is below 0, or all are 0.
#[must_use]
pub fn find(points: &[Point], kind: Kind, limits: &Limits) -> Found {
    let is_figure = |point: &Point| point.value >= 0.0 && point.value.is_finite();
    if points.len() < 2
        || !points.iter().all(is_figure)
        || points.iter().all(|point| point.value == 0.0)
    {
        return Found::default();
    }
    let repeats_agree = points.iter().all(|point| point.squares == 0.0);
    if kind == Kind::Exact
        && repeats_agree
        && let Some(found) = exact::find(points, limits)
    {
        return found;
    }
    if points.len() < FEWEST {
        return Found::default();
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
