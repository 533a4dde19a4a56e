//! Steps of figures that do not vary: every change that matters is one.

use super::series::{Drift, Findings, Limits, Point, SmallChanges, Step};
use crate::is_above;

/// A change that is back after as many positions may be the other way that a program can go, not another program.
const SHORT: usize = 2;
/// As many of them are.
const COMES_AND_GOES: usize = 3;

/// Finds every change beyond the smallest that matters. `None` where the figure comes and goes: then it is not exact.
pub(super) fn find(points: &[Point], limits: &Limits) -> Option<Findings> {
    let least = limits.least();
    let figures: Vec<f64> = points.iter().map(|point| point.value).collect();
    let is_far = |one: f64, other: f64| is_beyond(one, other, least);
    let places: Vec<usize> = (1..figures.len())
        .filter(|at| is_far(figures[at - 1], figures[*at]))
        .collect();
    let steps: Vec<Step> = places
        .iter()
        .map(|&position| {
            let (before, after) = (figures[position - 1], figures[position]);
            let is_back = |figure: f64| {
                let is_beyond = if after > before {
                    figure <= before
                } else {
                    figure >= before
                };
                // Not told from the level before, and closer to it than to that after.
                let distance = |other: f64| (other / before).ln().abs();
                is_beyond || !is_far(before, figure) && 2.0 * distance(figure) <= distance(after)
            };
            let ratio = after / before;
            let ratio = Some(ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            Step {
                position,
                earliest: position,
                latest: position,
                before,
                after,
                ratio,
                interval: ratio.map(|ratio| (ratio, ratio)),
                p: 0.0,
                gone_at: (position + 1..figures.len()).find(|at| is_back(figures[*at])),
            }
        })
        .collect();
    let is_short = |step: &&Step| step.gone_at.is_some_and(|at| at <= step.position + SHORT);
    if steps.iter().filter(is_short).count() >= COMES_AND_GOES {
        return None;
    }
    Some(Findings {
        drift: drift(&figures, &places, least),
        steps,
        blind_below: Some(limits.min_effect + 1.0),
    })
}

/// Whether two figures differ by more than a ratio with this logarithm, rounding apart.
fn is_beyond(one: f64, other: f64, least: f64) -> bool {
    one != other && is_above((other / one).ln().abs(), least)
}

/// What small changes add up to, each too small to matter.
fn drift(figures: &[f64], steps: &[usize], least: f64) -> Option<Drift> {
    let small = (1..figures.len()).filter(|at| !steps.contains(at));
    let changes: Vec<(usize, f64)> = small
        .filter(|at| figures[*at] > 0.0 && figures[at - 1] > 0.0)
        .map(|at| (at, (figures[at] / figures[at - 1]).ln()))
        .filter(|(_, change)| *change != 0.0)
        .collect();
    let sum: f64 = changes.iter().map(|(_, change)| change).sum();
    // Of several that are as large, the first one.
    let by_size =
        |one: &&(usize, f64), other: &&(usize, f64)| one.1.abs().total_cmp(&other.1.abs());
    let (largest_at, largest) = changes.iter().rev().max_by(by_size)?;
    let before = figures.iter().copied().find(|figure| *figure > 0.0)?;
    // Without steps and zeros, the small changes lead from the first figure to the last.
    let is_all = steps.is_empty() && figures.iter().all(|figure| *figure > 0.0);
    let after = figures.last().copied().filter(|_| is_all);
    (sum.abs() > least).then(|| Drift {
        before,
        after: after.unwrap_or(before * sum.exp()),
        ratio: sum.exp(),
        interval: (sum.exp(), sum.exp()),
        p: 0.0,
        small: Some(SmallChanges {
            changes: changes.len(),
            largest_at: *largest_at,
            largest: largest.exp(),
        }),
    })
}
